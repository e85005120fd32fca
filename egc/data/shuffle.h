#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "egc/core/rng.h"

namespace egc::data {

// Fisher-Yates. The standard library's own may differ between libraries.
template <class T>
void shuffle(std::vector<T>& values, Rng& rng) {
  for (size_t k = values.size(); k > 1; --k)
    std::swap(values[k - 1], values[rng.below(static_cast<uint32_t>(k))]);
}

}  // namespace egc::data
