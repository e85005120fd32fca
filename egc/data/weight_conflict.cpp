#include "egc/data/weight_conflict.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace egc::data {

std::optional<WeightConflict> find_weight_conflict(const Dataset& d, bool undirected) {
  if (!undirected || d.edge_weights.empty()) return std::nullopt;
  std::optional<WeightConflict> out;
  std::vector<int64_t> order;
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    const Sample s = d.sample(k);
    const auto ends = [&](int64_t e) { return std::minmax(s.edges[2 * e], s.edges[2 * e + 1]); };
    order.resize(static_cast<size_t>(s.num_edges()));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return std::tuple(ends(a), a) < std::tuple(ends(b), b);
    });
    for (size_t i = 1; i < order.size(); ++i) {
      const int64_t before = s.first_edge + order[i - 1];
      const int64_t edge = s.first_edge + order[i];
      if (ends(order[i - 1]) != ends(order[i]) || d.edge_weights[before] == d.edge_weights[edge])
        continue;
      if (!out || edge < out->second) out = {before, edge};
    }
    if (out) return out;
  }
  return out;
}

}  // namespace egc::data
