// Heterogeneous graphs: several types of nodes, and a rectangular Csr for each relation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "egc/graph/csr.h"

namespace egc {

// The node types and relations of a heterogeneous graph.
struct HeteroSchema {
  // A type of edge.
  struct Relation {
    std::string name;                                  // unique within the schema
    int64_t source = 0;                                // index of a node type
    int64_t target = 0;                                // index of a node type
    bool operator==(const Relation&) const = default;  // compares all fields
  };
  std::vector<std::string> node_types;  // names
  std::vector<Relation> relations;      // several may join the same types

  bool operator==(const HeteroSchema&) const = default;  // compares all fields

  // An ordinary graph: one node type and one relation.
  static HeteroSchema homogeneous() { return {{"node"}, {{"edge", 0, 0}}}; }
};

// Throws kUsage unless names are non-empty, unique, printable ASCII without dots, and relations
// refer to existing types.
void check_schema(const HeteroSchema& schema);

// A heterogeneous graph.
struct HeteroGraph {
  std::vector<int64_t> num_nodes;  // of each node type
  std::vector<Csr> relations;      // in the schema's order; rows are targets

  // An ordinary graph as a heterogeneous one.
  static HeteroGraph homogeneous(const Csr& graph) { return {{graph.num_targets()}, {graph}}; }
};

// The graph of one relation from a list of edges source[k] -> target[k]. num_nodes: of each node
// type.
Csr relation_from_edges(const HeteroSchema::Relation& relation, std::span<const int64_t> num_nodes,
                        std::span<const int64_t> source, std::span<const int64_t> target);

// Throws kUsage unless the graph has the schema's types and relations, and sizes agree.
void check_hetero_graph(const HeteroSchema& schema, const HeteroGraph& graph);

// [types + 1]: the first node of each type when all nodes are numbered type after type, then their
// total.
std::vector<int64_t> first_nodes(const HeteroGraph& graph);

}  // namespace egc
