#include "egc/graph/hetero_graph.h"

#include <set>

#include "egc/core/error.h"

namespace egc {
namespace {

void check_name(const char* what, const std::string& name, std::set<std::string>& seen) {
  bool fine = !name.empty();
  for (const char c : name) fine = fine && c > ' ' && c <= '~' && c != '.';
  check(fine, "schema: the name of a {} must be non-empty printable ASCII without dots, got \"{}\"",
        what, name);
  check(seen.insert(name).second, "schema: duplicate {} \"{}\"", what, name);
}

}  // namespace

void check_schema(const HeteroSchema& schema) {
  check(!schema.node_types.empty(), "schema: at least one node type is needed");
  std::set<std::string> types;
  for (const std::string& name : schema.node_types) check_name("node type", name, types);
  std::set<std::string> relations;
  const auto count = static_cast<int64_t>(schema.node_types.size());
  for (const auto& r : schema.relations) {
    check_name("relation", r.name, relations);
    check(r.source >= 0 && r.source < count && r.target >= 0 && r.target < count,
          "schema: relation \"{}\" must join node types 0 to {}, got {} and {}", r.name, count - 1,
          r.source, r.target);
  }
}

Csr relation_from_edges(const HeteroSchema::Relation& r, std::span<const int64_t> num_nodes,
                        std::span<const int64_t> source, std::span<const int64_t> target) {
  return r.source == r.target
             ? Csr::from_edges(num_nodes[r.target], source, target)
             : Csr::from_edges(num_nodes[r.target], num_nodes[r.source], source, target);
}

void check_hetero_graph(const HeteroSchema& schema, const HeteroGraph& graph) {
  check(graph.num_nodes.size() == schema.node_types.size(),
        "hetero graph: expected {} node types, got {}", schema.node_types.size(),
        graph.num_nodes.size());
  for (const int64_t n : graph.num_nodes)
    check(n >= 0, "hetero graph: a number of nodes must not be negative, got {}", n);
  check(graph.relations.size() == schema.relations.size(),
        "hetero graph: expected {} relations, got {}", schema.relations.size(),
        graph.relations.size());
  for (size_t r = 0; r < graph.relations.size(); ++r) {
    const auto& expected = schema.relations[r];
    const Csr& csr = graph.relations[r];
    check(csr.num_own_sources() == graph.num_nodes[expected.source] &&
              csr.num_targets() == graph.num_nodes[expected.target],
          "hetero graph: relation \"{}\" must join {} sources to {} targets, got {} and {}",
          expected.name, graph.num_nodes[expected.source], graph.num_nodes[expected.target],
          csr.num_own_sources(), csr.num_targets());
    // Degrees depend on it, and two types may have as many nodes.
    check(csr.num_targets() == 0 || csr.rows_are_sources() == (expected.source == expected.target),
          "hetero graph: relation \"{}\" must end at {} nodes; build it with relation_from_edges",
          expected.name, expected.source == expected.target ? "the same" : "other");
  }
}

std::vector<int64_t> first_nodes(const HeteroGraph& graph) {
  std::vector<int64_t> first = {0};
  for (const int64_t n : graph.num_nodes) first.push_back(first.back() + n);
  return first;
}

}  // namespace egc
