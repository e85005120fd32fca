// The graph behind egc_graph.
#pragma once

#include "egc/graph/csr.h"

struct egc_graph {  // NOLINT: its name is of the C interface
  egc::Csr csr;
  int64_t num_edge_categories = 0;  // of all columns
  int64_t edge_numbers = 0;         // columns
  egc::Csr rows_of_types{};         // of a table of all categories, by type of edge
};
