// Batches: several graphs as one graph without edges between them (block-diagonal adjacency). Nodes
// are numbered one graph after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/graph/csr.h"

namespace egc {

// Several graphs as one.
struct Batch {
  Csr graph;  // all nodes and edges
  // [graphs + 1]: graph k has the nodes [first_node[k], first_node[k + 1]).
  std::vector<int64_t> first_node = {0};

  // Number of graphs.
  int64_t num_graphs() const { return static_cast<int64_t>(first_node.size()) - 1; }
};

// A graph for the readout: targets are the graphs, sources their nodes. Throws kUsage unless
// first_node rises from 0.
Csr pool_graph(std::span<const int64_t> first_node);

// Puts square graphs together. Throws kData where only some have edge weights.
Batch make_batch(std::span<const Csr> graphs);

}  // namespace egc
