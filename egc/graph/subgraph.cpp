#include "egc/graph/subgraph.h"

#include "egc/core/error.h"

namespace egc {
namespace {

// The edges for which keep(edge) is true, with sources renamed, of the given rows.
template <class Keep, class Rename>
Csr filtered(const Csr& graph, std::span<const int64_t> rows, int64_t num_sources, Keep&& keep,
             Rename&& rename) {
  const auto offsets = graph.offsets();
  const auto sources = graph.sources();
  const auto weights = graph.weights();
  std::vector<int64_t> new_offsets = {0};
  std::vector<int32_t> new_sources;
  std::vector<float> new_weights;
  std::vector<int64_t> kept;  // edges, for their features
  const bool with_features = !graph.edge_features().empty();
  new_offsets.reserve(rows.size() + 1);
  new_sources.reserve(sources.size());
  new_weights.reserve(weights.size());
  for (const int64_t row : rows) {
    for (int64_t e = offsets[row]; e < offsets[row + 1]; ++e) {
      if (!keep(e)) continue;
      new_sources.push_back(rename(sources[e]));
      if (!weights.empty()) new_weights.push_back(weights[e]);
      if (with_features) kept.push_back(e);
    }
    new_offsets.push_back(static_cast<int64_t>(new_sources.size()));
  }
  const int64_t num_targets = std::ssize(rows);
  EdgeFeatures features;
  if (with_features) features = graph.edge_features().selected(kept);
  return graph.is_square()
             ? Csr(num_targets, std::move(new_offsets), std::move(new_sources),
                   std::move(new_weights), std::move(features))
             : Csr(num_targets, num_sources, std::move(new_offsets), std::move(new_sources),
                   std::move(new_weights), nullptr, std::move(features));
}

}  // namespace

Csr drop_edges(const Csr& graph, double p, Rng& rng) {
  std::vector<int64_t> rows(static_cast<size_t>(graph.num_targets()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  return filtered(
      graph, rows, graph.num_sources(), [&](int64_t) { return rng.uniform() >= p; },
      [](int32_t source) { return source; });
}

std::vector<int64_t> sample_nodes(std::span<const int64_t> first_node, double p, Rng& rng) {
  std::vector<int64_t> kept;
  for (size_t g = 0; g + 1 < first_node.size(); ++g) {
    const int64_t nodes = first_node[g + 1] - first_node[g];
    if (nodes == 0) continue;
    const size_t before = kept.size();
    for (int64_t i = first_node[g]; i < first_node[g + 1]; ++i)
      if (rng.uniform() >= p) kept.push_back(i);
    if (kept.size() == before)
      kept.push_back(first_node[g] + rng.below(static_cast<uint32_t>(nodes)));
  }
  return kept;
}

Csr induced_subgraph(const Csr& graph, std::span<const int64_t> kept) {
  check(
      graph.is_square(),
      "a subgraph of nodes needs targets that are the sources, got {} targets and {} other sources",
      graph.num_targets(), graph.num_sources());
  constexpr int32_t kGone = -1;
  std::vector<int32_t> new_id(static_cast<size_t>(graph.num_targets()), kGone);
  for (size_t k = 0; k < kept.size(); ++k) {
    check(kept[k] >= 0 && kept[k] < graph.num_targets() && (k == 0 || kept[k - 1] < kept[k]),
          "kept nodes must be ascending and at most {}, got {} at {}", graph.num_targets() - 1,
          kept[k], k);
    new_id[kept[k]] = static_cast<int32_t>(k);
  }
  const auto sources = graph.sources();
  return filtered(
      graph, kept, static_cast<int64_t>(kept.size()),
      [&](int64_t e) { return new_id[sources[e]] != kGone; },
      [&](int32_t source) { return new_id[source]; });
}

}  // namespace egc
