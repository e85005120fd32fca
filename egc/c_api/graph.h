// The graph behind egc_graph.
#pragma once

#include "egc/graph/csr.h"

struct egc_graph {
  egc::Csr csr;
};
