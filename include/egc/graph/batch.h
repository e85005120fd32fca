// Many graphs as one: disjoint blocks on the diagonal, nodes numbered one graph after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/graph/csr.h"

namespace egc {

struct Batch {
  Csr graph;
  // [graphs + 1]: graph k owns the nodes [first_node[k], first_node[k + 1]).
  std::vector<int64_t> first_node = {0};

  int64_t num_graphs() const { return static_cast<int64_t>(first_node.size()) - 1; }
};

// The readout as a graph: its targets are the graphs, its sources their nodes. Checks that
// first_node rises from 0.
Csr pool_graph(std::span<const int64_t> first_node);

// Square graphs; all with edge weights, or none.
Batch make_batch(std::span<const Csr> graphs);

}  // namespace egc
