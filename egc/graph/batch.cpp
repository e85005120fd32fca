#include "egc/graph/batch.h"

#include <limits>
#include <numeric>
#include <optional>

#include "egc/core/error.h"

namespace egc {

Batch make_batch(std::span<const Csr> graphs) {
  Batch batch;
  bool any_weighted = false;
  bool all_weighted = true;
  int64_t num_edges = 0;
  for (const Csr& g : graphs) {
    check_data(g.is_square(),
               "make_batch: targets must be the sources, got {} targets and {} other sources",
               g.num_targets(), g.num_sources());
    if (g.num_edges() > 0) {
      any_weighted |= !g.weights().empty();
      all_weighted &= !g.weights().empty();
    }
    batch.first_node.push_back(batch.first_node.back() + g.num_targets());
    num_edges += g.num_edges();
  }
  check_data(!any_weighted || all_weighted,
             "make_batch: either all graphs have edge weights or none, got both");
  const int64_t num_nodes = batch.first_node.back();
  check_data(num_nodes <= INT32_MAX, "make_batch: at most {} nodes in a batch, got {}", INT32_MAX,
             num_nodes);

  std::vector<int64_t> offsets;
  std::vector<int32_t> sources;
  std::vector<float> weights;
  std::optional<EdgeFeatures> features;  // a graph without edges has none to compare with
  offsets.reserve(num_nodes + 1);
  sources.reserve(num_edges);
  weights.reserve(any_weighted ? num_edges : 0);
  offsets.push_back(0);
  for (size_t k = 0; k < graphs.size(); ++k) {
    const Csr& g = graphs[k];
    const auto shift = static_cast<int32_t>(batch.first_node[k]);
    const auto edges_before = static_cast<int64_t>(sources.size());
    for (const int64_t end : g.offsets().subspan(1)) offsets.push_back(edges_before + end);
    for (const int32_t j : g.sources()) sources.push_back(j + shift);
    weights.insert(weights.end(), g.weights().begin(), g.weights().end());
    if (g.num_edges() == 0) continue;
    if (features)
      features->append(g.edge_features());
    else
      features = g.edge_features();
  }
  batch.graph = Csr(num_nodes, std::move(offsets), std::move(sources), std::move(weights),
                    features.value_or(EdgeFeatures{}));
  return batch;
}

Csr pool_graph(std::span<const int64_t> first_node) {
  check(!first_node.empty() && first_node[0] == 0, "pool_graph: first_node must begin with 0");
  const int64_t nodes = first_node.back();
  check(nodes >= 0 && nodes <= std::numeric_limits<int32_t>::max(),
        "pool_graph: a batch has from 0 to {} nodes, got {}", std::numeric_limits<int32_t>::max(),
        nodes);
  std::vector<int32_t> sources(static_cast<size_t>(nodes));
  std::iota(sources.begin(), sources.end(), 0);
  return {static_cast<int64_t>(first_node.size()) - 1, nodes,
          std::vector<int64_t>(first_node.begin(), first_node.end()), std::move(sources)};
}

}  // namespace egc
