// The graph behind egc_graph.
#pragma once

#include "egc/graph/csr.h"

struct egc_graph {  // NOLINT: its name is of the C interface
  egc::Csr csr;
};
