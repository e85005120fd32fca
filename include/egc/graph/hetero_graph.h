// Graphs with several types of nodes and relations: one rectangular Csr per relation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "egc/graph/csr.h"

namespace egc {

// What a network must know of such a graph before it sees one.
struct HeteroSchema {
  struct Relation {
    std::string name;
    int64_t source = 0;  // index of a node type
    int64_t target = 0;
    bool operator==(const Relation&) const = default;
  };
  std::vector<std::string> node_types;
  std::vector<Relation> relations;

  bool operator==(const HeteroSchema&) const = default;

  // One type of nodes and one relation: an ordinary graph.
  static HeteroSchema homogeneous() { return {{"node"}, {{"edge", 0, 0}}}; }
};

// Throws unless names are given, differ and are printable ASCII without dots, and relations name
// existing types.
void check_schema(const HeteroSchema& schema);

struct HeteroGraph {
  std::vector<int64_t> num_nodes;  // of each type
  std::vector<Csr> relations;      // in the order of the schema; rows are the targets

  static HeteroGraph homogeneous(const Csr& graph) { return {{graph.num_targets()}, {graph}}; }
};

// Source[k] -> target[k], within a type of nodes or between two; num_nodes: of each type.
Csr relation_from_edges(const HeteroSchema::Relation& relation, std::span<const int64_t> num_nodes,
                        std::span<const int64_t> source, std::span<const int64_t> target);

// Throws unless the graph has the schema's types and relations, of fitting sizes.
void check_hetero_graph(const HeteroSchema& schema, const HeteroGraph& graph);

// Where the nodes of each type begin when all are numbered in a row, and how many there are.
std::vector<int64_t> first_nodes(const HeteroGraph& graph);

}  // namespace egc
