// Stable parallel counting sort of edges by a 32-bit key; the result never depends on the threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace egc {

struct SortedByKey {
  std::vector<int64_t> offsets;  // [num_keys + 1]
  std::vector<int32_t> values;   // grouped by key, in the order of the input
  std::vector<float> weights;    // carried along when given
  std::vector<int64_t> order;    // places in the input, when asked for
};

SortedByKey counting_sort(int64_t num_keys, std::span<const int32_t> keys,
                          std::span<const int32_t> values, std::span<const float> weights,
                          bool with_order = false);

}  // namespace egc
