#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// The first `train` ids, the next `valid`, the next `test`: for sets whose order is by chance.
inline Split ranges_split(const std::string& name, int64_t train, int64_t valid, int64_t test) {
  const auto range = [](int64_t begin, int64_t count) {
    std::vector<int64_t> ids(static_cast<size_t>(count));
    std::iota(ids.begin(), ids.end(), begin);
    return ids;
  };
  return {name, range(0, train), range(train, valid), range(train + valid, test)};
}

}  // namespace egc::data
