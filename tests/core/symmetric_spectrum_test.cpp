// Eigenvectors of small matrices: what they are multiplied to, and how they stand to each other.
#include "egc/core/symmetric_spectrum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "egc/core/rng.h"

namespace egc {
namespace {

using Dense = std::vector<double>;  // [n, n]

// Of matrices that are hard for one solver or another.
TEST(SymmetricSpectrum, HasSmallResidualsAndOrthonormalVectors) {
  const auto diagonal = [](const std::vector<double>& values) {
    Dense a(values.size() * values.size(), 0.0);
    for (size_t i = 0; i < values.size(); ++i) a[i * values.size() + i] = values[i];
    return a;
  };
  const auto random = [](int64_t n, double scale, uint64_t seed) {
    Rng rng(seed);
    Dense a(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j) a[i * n + j] = a[j * n + i] = scale * (rng.uniform() - 0.5);
    return a;
  };
  std::vector<Dense> matrices = {
      diagonal({}),  diagonal({3}),  diagonal({2, 2, 2, 2}), diagonal({5, -1, 0, 3, -1}),
      Dense(9, 0.0), Dense(49, 1.0), {1, 1e-9, 1e-9, 1},     {0, 1, 1, 0}};
  for (const int64_t n : {2, 3, 5, 8, 40, 90}) {
    matrices.push_back(random(n, 1, static_cast<uint64_t>(n)));
    matrices.push_back(random(n, 1e-150, 1));
    matrices.push_back(random(n, 1e150, 2));
  }
  for (const Dense& a : matrices) {
    const auto n = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(a.size()))));
    const Spectrum s = symmetric_spectrum(a, n);
    ASSERT_EQ(std::ssize(s.values), n);
    ASSERT_EQ(std::ssize(s.vectors), n * n);
    EXPECT_TRUE(std::is_sorted(s.values.begin(), s.values.end()));
    double size = 0;
    for (const double x : a) size = std::max(size, std::abs(x));
    for (int64_t k = 0; k < n; ++k)
      for (int64_t i = 0; i < n; ++i) {
        double av = 0;
        double vv = 0;
        for (int64_t j = 0; j < n; ++j) {
          av += a[i * n + j] * s.vectors[j * n + k];
          vv += s.vectors[j * n + i] * s.vectors[j * n + k];
        }
        EXPECT_NEAR(av, s.values[k] * s.vectors[i * n + k], 1e-13 * size * static_cast<double>(n))
            << n;
        EXPECT_NEAR(vv, i == k ? 1 : 0, 1e-13 * static_cast<double>(n)) << n;
      }
  }
}

}  // namespace
}  // namespace egc
