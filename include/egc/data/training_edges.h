// From stored edges to those that networks see: inverse edges, both directions, next-token edges of
// code, no self-loops.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/graph/csr.h"
#include "egc/graph/hetero_graph.h"

namespace egc::data {

// Which edges are added or removed.
struct EdgeRules {
  bool undirected = false;  // both directions of every edge, without duplicates
  bool inverse = false;     // the inverse of every edge too, duplicates kept
  bool next_token = false;  // code: join consecutive attributed nodes, both ways
  bool drop_loops = false;  // remove self-loops

  static EdgeRules of(const Dataset& dataset);  // the rules of a dataset
};

// AccumulatorSet of edges in a code graph.
enum class CodeEdge : int32_t { kAst, kAstInverse, kNextToken, kNextTokenInverse };

// The edges of graph k of a code dataset: [E, 3] source, target, kind.
std::vector<int32_t> code_edges(const Dataset& dataset, int64_t k);

// The features of all edges of a dataset as stored, with the types that occur in it.
EdgeFeatures stored_edge_features(const Dataset& dataset);

// Graph k of a dataset as networks see it. features: stored_edge_features() of the dataset; those
// of its edges come with the graph. An inverse edge has the features and the weight of its edge.
// Edges between the same nodes are no duplicates if their features differ. Throws kData where an
// undirected graph has an edge with two weights.
Csr training_graph(const Dataset& dataset, int64_t k, const EdgeRules& rules,
                   const EdgeFeatures& features = {});

// The schema that networks see. With add_inverse_edge, every relation gets an inverse `rev_<name>`;
// a relation within one type becomes symmetric instead if the dataset is undirected.
HeteroSchema training_schema(const Dataset& dataset);
// The heterogeneous graph that networks see.
HeteroGraph training_hetero_graph(const Dataset& dataset);

}  // namespace egc::data
