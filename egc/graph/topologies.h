// Generated graphs with the shape of the paper's benchmark topologies, for measuring and testing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/graph/csr.h"

namespace egc {

// arxiv-like, zinc-batch, code-batch, reddit-like, zinc-minibatch (64 molecules), zinc-single
// (one); the same seed gives the same graph. `scale` in (0, 1] shrinks the number of nodes
// and edges, or of graphs.
Csr make_topology(const std::string& name, uint64_t seed = 0, double scale = 1.0);
std::vector<std::string> topology_names();

// The parts, for tests and other sizes. All are undirected: every edge comes with its inverse.

// Endpoints are drawn with weight rank^-exponent; ids are shuffled.
Csr power_law_graph(int64_t nodes, int64_t directed_edges, double exponent, uint64_t seed);
// One connected molecule-like graph after the other: chains with branches and rings of six.
Csr molecule_batch(int64_t graphs, uint64_t seed);
// One random tree after the other, about 125 nodes each.
Csr tree_batch(int64_t graphs, uint64_t seed);

}  // namespace egc
