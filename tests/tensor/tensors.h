// Tensors for tests, and comparing them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "egc/core/rng.h"
#include "egc/tensor/tensor.h"

namespace egc::testing {

inline Tensor tensor_of(int64_t rows, int64_t columns, const std::vector<double>& values,
                        DType type = DType::kF64) {
  check(rows * columns == std::ssize(values), "{} values are no [{}, {}]", values.size(), rows,
        columns);
  const Tensor t = Tensor::empty(rows, columns, DType::kF64);
  std::copy(values.begin(), values.end(), t.data<double>());
  return t.to(type);
}

// Of the standard normal distribution; as float32 the same values, rounded.
inline Tensor random_tensor(int64_t rows, int64_t columns, uint64_t seed,
                            DType type = DType::kF64) {
  Rng rng(seed, 3);
  std::normal_distribution<double> normal;
  const Tensor t = Tensor::empty(rows, columns, DType::kF64);
  for (int64_t k = 0; k < t.size(); ++k) t.data<double>()[k] = normal(rng);
  return t.to(type);
}

inline std::vector<double> values_of(const Tensor& t) {
  const Tensor wide = t.to(DType::kF64);
  return {wide.data<double>(), wide.data<double>() + wide.size()};
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.dtype() == b.dtype() && a.rows() == b.rows() &&
         a.columns() == b.columns() &&
         (a.size() == 0 || std::memcmp(a.raw(), b.raw(), a.num_bytes()) == 0);
}

inline bool all_finite(const Tensor& t) {
  const std::vector<double> values = values_of(t);
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// max |got - want| / max(1, max |want|); NaN agrees with NaN and infinity with the same infinity.
// The message says where the worst element is.
inline ::testing::AssertionResult close(const Tensor& got, const Tensor& want, double tolerance) {
  if (!got.defined() || !want.defined() || got.rows() != want.rows() ||
      got.columns() != want.columns())
    return ::testing::AssertionFailure() << "got " << describe(got) << ", not " << describe(want);
  const std::vector<double> a = values_of(got);
  const std::vector<double> b = values_of(want);
  double scale = 1.0;
  for (const double v : b)
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  double worst = 0.0;
  size_t at = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    const bool same = a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k]));
    const double off = same ? 0.0 : std::abs(a[k] - b[k]) / scale;
    if (off <= worst) continue;  // not of NaN, whose distance is the greatest
    worst = std::isnan(off) ? INFINITY : off;
    at = k;
  }
  if (worst <= tolerance) return ::testing::AssertionSuccess();
  const auto columns = static_cast<size_t>(got.columns());
  return ::testing::AssertionFailure()
         << fmt::format("element [{}, {}] of {} is {}, not {}: off by {:.3g}, {:.1g} is allowed",
                        at / columns, at % columns, describe(got), a[at], b[at], worst, tolerance);
}

}  // namespace egc::testing
