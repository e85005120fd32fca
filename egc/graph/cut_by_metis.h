// Parts of a graph with few edges between them and about equal work in each.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/graph/hetero_graph.h"

namespace egc {

// The part of every node; parts may be empty.
std::vector<int32_t> cut_by_metis(const HeteroSchema& schema, const HeteroGraph& graph,
                                  int64_t parts);

}  // namespace egc
