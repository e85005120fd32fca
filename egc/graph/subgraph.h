// Parts of a graph, for training on less than the whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/core/rng.h"
#include "egc/graph/csr.h"

namespace egc {

// Every edge goes with probability p, on its own (DropEdge).
Csr drop_edges(const Csr& graph, double p, Rng& rng);

// Every node goes with probability p, but one of each graph stays; the nodes that stay, in order.
// first_node: as in Batch.
std::vector<int64_t> sample_nodes(std::span<const int64_t> first_node, double p, Rng& rng);

// The nodes `kept`, in rising order, and the edges among them.
Csr induced_subgraph(const Csr& graph, std::span<const int64_t> kept);

}  // namespace egc
