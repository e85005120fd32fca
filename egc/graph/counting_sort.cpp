#include "egc/graph/counting_sort.h"

#include <algorithm>

#include "egc/core/parallel.h"

namespace egc {

SortedByKey counting_sort(int64_t num_keys, std::span<const int32_t> keys,
                          std::span<const int32_t> values, std::span<const float> weights,
                          bool with_order) {
  const auto count = static_cast<int64_t>(keys.size());
  SortedByKey out;
  out.offsets.assign(num_keys + 1, 0);
  out.values.resize(count);
  out.weights.resize(weights.size());
  out.order.resize(with_order ? count : 0);

  // Chunks of the input, each with a histogram of its own. More chunks than threads would only cost
  // memory; the order of the result is the same for any number of them.
  const int64_t chunks =
      count < (int64_t{1} << 16) ? 1 : std::min<int64_t>(num_threads(), count / (num_keys + 1) + 1);
  std::vector<std::vector<int64_t>> position(chunks);
  const auto begin_of = [&](int64_t chunk) { return count / chunks * chunk; };
  const auto end_of = [&](int64_t chunk) {
    return chunk + 1 == chunks ? count : begin_of(chunk + 1);
  };

  parallel_tasks(chunks, [&](int64_t chunk) {
    position[chunk].assign(num_keys, 0);
    for (int64_t k = begin_of(chunk); k < end_of(chunk); ++k) ++position[chunk][keys[k]];
  });
  int64_t total = 0;
  for (int64_t key = 0; key < num_keys; ++key) {
    out.offsets[key] = total;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t here = position[chunk][key];
      position[chunk][key] = total;
      total += here;
    }
  }
  out.offsets[num_keys] = total;
  parallel_tasks(chunks, [&](int64_t chunk) {
    for (int64_t k = begin_of(chunk); k < end_of(chunk); ++k) {
      const int64_t to = position[chunk][keys[k]]++;
      out.values[to] = values[k];
      if (!weights.empty()) out.weights[to] = weights[k];
      if (with_order) out.order[to] = k;
    }
  });
  return out;
}

}  // namespace egc
