// Cuts the nodes of a graph into parts for several processes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/core/named_table.h"
#include "egc/graph/csr.h"

namespace egc {

enum class PartitionMethod {
  kMetis,   // few edges between parts, about equal work in each
  kRanges,  // neighbouring ids, for graphs that METIS cannot hold or whose ids mean something
};
const NamedTable<PartitionMethod>& partition_methods();

// The part of every node of a square graph; the same graph gives the same parts. No part is empty.
std::vector<int32_t> partition(const Csr& graph, int64_t parts, PartitionMethod method);

// One part of a graph.
struct GraphPart {
  std::vector<int64_t> nodes;  // its nodes in the whole graph; row k is nodes[k]
  Csr graph;                   // with its halo
};
GraphPart cut_part(const Csr& whole, std::span<const int32_t> part_of, int64_t parts, int64_t part);

}  // namespace egc
