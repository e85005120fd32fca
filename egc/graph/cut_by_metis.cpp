#include "egc/graph/cut_by_metis.h"

#include <metis.h>

#include <algorithm>
#include <limits>

#include "egc/core/error.h"

namespace egc {
namespace {

// Both directions of every edge, each once, without loops: what METIS reads.
struct Adjacency {
  std::vector<idx_t> offsets = {0};
  std::vector<idx_t> neighbours;
};

Adjacency undirected(const HeteroSchema& schema, const HeteroGraph& graph) {
  const std::vector<int64_t> first = first_nodes(graph);
  int64_t most = first.back();  // the weights' sum, too
  for (const Csr& relation : graph.relations) most += 2 * relation.num_edges();
  check(most <= std::numeric_limits<idx_t>::max(),
        "partition: METIS supports at most {} edges, both directions counted, got {}; use \"egc "
        "data partition --method ranges\"",
        std::numeric_limits<idx_t>::max(), most);
  Adjacency out;
  std::vector<int64_t> near;
  const auto add_row = [&](const Csr& rows, int64_t i, int64_t type) {
    for (int64_t e = rows.offsets()[i]; e < rows.offsets()[i + 1]; ++e)
      near.push_back(first[type] + rows.sources()[e]);
  };
  for (size_t t = 0; t < graph.num_nodes.size(); ++t)
    for (int64_t i = 0; i < graph.num_nodes[t]; ++i) {
      near.clear();
      for (size_t r = 0; r < graph.relations.size(); ++r) {
        const auto& joined = schema.relations[r];
        if (joined.target == static_cast<int64_t>(t)) add_row(graph.relations[r], i, joined.source);
        if (joined.source == static_cast<int64_t>(t))
          add_row(graph.relations[r].transposed(), i, joined.target);
      }
      std::sort(near.begin(), near.end());
      near.erase(std::unique(near.begin(), near.end()), near.end());
      for (const int64_t j : near)
        if (j != first[t] + i) out.neighbours.push_back(static_cast<idx_t>(j));
      out.offsets.push_back(static_cast<idx_t>(out.neighbours.size()));
    }
  return out;
}

}  // namespace

std::vector<int32_t> cut_by_metis(const HeteroSchema& schema, const HeteroGraph& graph,
                                  int64_t parts) {
  Adjacency adjacency = undirected(schema, graph);
  auto nodes = static_cast<idx_t>(adjacency.offsets.size() - 1);
  auto wanted = static_cast<idx_t>(parts);
  // Memory goes with the nodes, time with nodes and edges: both are balanced.
  idx_t constraints = 2;
  std::vector<idx_t> weights;
  for (idx_t i = 0; i < nodes; ++i) {
    weights.push_back(1);
    weights.push_back(1 + adjacency.offsets[i + 1] - adjacency.offsets[i]);
  }
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 0;
  idx_t cut = 0;
  std::vector<idx_t> part_of(static_cast<size_t>(nodes));
  const int result = METIS_PartGraphKway(
      &nodes, &constraints, adjacency.offsets.data(), adjacency.neighbours.data(), weights.data(),
      nullptr, nullptr, &wanted, nullptr, nullptr, options, &cut, part_of.data());
  if (result != METIS_OK)
    fail(ErrorKind::kSystem, "partition: METIS could not partition {} nodes into {} (error {})",
         nodes, parts, result);
  return {part_of.begin(), part_of.end()};
}

}  // namespace egc
