#include "egc/ops/edge_term.h"

#include <numeric>

namespace egc::ops {

Csr rows_of_types(const EdgeTypes& types, std::span<const int64_t> categories) {
  const int64_t columns = types.columns;
  std::vector<int32_t> rows(types.categories.size());
  for (int64_t k = 0; k < types.size(); ++k) {
    int64_t first = 0;
    for (int64_t f = 0; f < columns; ++f) {
      const int64_t category = types.categories[k * columns + f];
      check_data(category >= 0 && category < categories[f],
                 "edge features: feature {}: expected a category from 0 to {}, got {}", f,
                 categories[f] - 1, category);
      rows[k * columns + f] = static_cast<int32_t>(first + category);
      first += categories[f];
    }
  }
  std::vector<int64_t> offsets(static_cast<size_t>(types.size()) + 1);
  for (size_t k = 0; k < offsets.size(); ++k) offsets[k] = static_cast<int64_t>(k) * columns;
  const int64_t table_rows = std::accumulate(categories.begin(), categories.end(), int64_t{0});
  return {types.size(), table_rows, std::move(offsets), std::move(rows)};
}

}  // namespace egc::ops
