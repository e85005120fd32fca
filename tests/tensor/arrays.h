// Arrays and states for tests, and comparing them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "egc/tensor/nd_array.h"

namespace egc::testing {

// float32.
inline NdArray full_array(const std::vector<int64_t>& shape, double value) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  const std::vector<float> values(static_cast<size_t>(count), static_cast<float>(value));
  return {shape, std::span<const float>(values)};
}
inline NdArray ones(const std::vector<int64_t>& shape) { return full_array(shape, 1); }

// The same names with the same types, shapes and bits.
inline void expect_same_state(const State& got, const State& want) {
  EXPECT_EQ(got.size(), want.size());
  for (const auto& [name, array] : want)
    EXPECT_TRUE(got.contains(name) && got.at(name).equals(array)) << name;
}

}  // namespace egc::testing
