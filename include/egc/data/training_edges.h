// From stored edges to those that networks see: inverses, both directions without duplicates,
// next-token edges of code, no self-loops.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/graph/csr.h"
#include "egc/graph/hetero_graph.h"

namespace egc::data {

struct EdgeRules {
  bool undirected = false;  // both directions of every edge, each once
  bool inverse = false;     // the inverse of every edge too, duplicates kept
  bool next_token = false;  // code: attributed nodes in a row are joined, both ways
  bool drop_loops = false;

  static EdgeRules of(const Dataset& dataset);
};

// What an edge of a code graph is.
enum class CodeEdge : int32_t { kAst, kAstInverse, kNextToken, kNextTokenInverse };

// The four kinds of edges of graph k of a code dataset: [E, 3] source, target, kind.
std::vector<int32_t> code_edges(const Dataset& dataset, int64_t k);

// The one graph of a dataset, or graph k, by the rules.
Csr training_graph(const Dataset& dataset, int64_t k, const EdgeRules& rules);

// Heterogeneous: with add_inverse_edge every relation between different types gets an inverse
// rev_<name>, and so does one within a type, unless `undirected`, which makes it symmetric.
HeteroSchema training_schema(const Dataset& dataset);
HeteroGraph training_hetero_graph(const Dataset& dataset);

}  // namespace egc::data
