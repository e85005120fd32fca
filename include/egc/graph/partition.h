// Partitions of a graph for several processes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/core/named_table.h"
#include "egc/graph/hetero_graph.h"

namespace egc {

// How nodes are assigned to partitions.
enum class PartitionMethod {
  kMetis,   // few edges between partitions, about equal work in each; needs METIS
  kRanges,  // contiguous ids, for graphs that are too large for METIS or whose ids are meaningful
};
// Names of the methods: metis, ranges.
const NamedTable<PartitionMethod>& partition_methods();

// The partition of every node, node types one after the other. Deterministic. Every partition has
// nodes, but perhaps not of every type.
std::vector<int32_t> partition(const HeteroSchema& schema, const HeteroGraph& graph, int64_t parts,
                               PartitionMethod method);

// One partition of a graph.
struct GraphPart {
  // Of each type: row k of the partition is node nodes[k] of the complete graph.
  std::vector<std::vector<int64_t>> nodes;
  HeteroGraph graph;  // relations with their halos
};
// Cuts partition `part` of `parts` out of a graph. part_of: the result of partition().
GraphPart cut_part(const HeteroSchema& schema, const HeteroGraph& whole,
                   std::span<const int32_t> part_of, int64_t parts, int64_t part);

}  // namespace egc
