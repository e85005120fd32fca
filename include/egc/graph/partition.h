// Cuts the nodes of a graph into parts for several processes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/core/named_table.h"
#include "egc/graph/hetero_graph.h"

namespace egc {

enum class PartitionMethod {
  kMetis,   // few edges between parts, about equal work in each
  kRanges,  // neighbouring ids, for graphs that METIS cannot hold or whose ids mean something
};
const NamedTable<PartitionMethod>& partition_methods();

// The part of every node, those of the first type first; the same graph gives the same parts. No
// part is empty, but it may be without nodes of some type.
std::vector<int32_t> partition(const HeteroSchema& schema, const HeteroGraph& graph, int64_t parts,
                               PartitionMethod method);

// One part of a graph.
struct GraphPart {
  std::vector<std::vector<int64_t>> nodes;  // of each type, in the whole graph; row k is nodes[k]
  HeteroGraph graph;                        // relations with their halos
};
GraphPart cut_part(const HeteroSchema& schema, const HeteroGraph& whole,
                   std::span<const int32_t> part_of, int64_t parts, int64_t part);

}  // namespace egc
