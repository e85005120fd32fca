// Exponentials of a row: all tails, all instruction sets, both precisions, hostile values.
#include "egc/kernels/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "egc/core/rng.h"
#include "egc/kernels/target.h"

namespace egc::kernels {
namespace {

template <class T>
class ExpRow : public ::testing::Test {
 protected:
  void TearDown() override { force_target(""); }

  static void expect_right(const std::vector<T>& x) {
    const auto n = std::ssize(x);
    const T greatest = *std::max_element(x.begin(), x.end());
    double want = 0;
    for (const T v : x) want += std::exp(static_cast<double>(v) - static_cast<double>(greatest));
    const double tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-14;
    for (const std::string& target : available_targets()) {
      force_target(target);
      std::vector<T> e(x.size() + 1, T{-7});
      const auto found = exp_row(x.data(), n, e.data());
      EXPECT_EQ(found.greatest, greatest) << target;
      EXPECT_NEAR(found.sum, want, tolerance * want) << target << " " << n;
      EXPECT_EQ(exp_row(x.data(), n, static_cast<T*>(nullptr)).sum, found.sum) << target;
      for (int64_t c = 0; c < n; ++c)
        EXPECT_NEAR(e[c], std::exp(static_cast<double>(x[c]) - static_cast<double>(greatest)),
                    tolerance)
            << target << " " << n;
      EXPECT_EQ(e.back(), T{-7}) << target << ": wrote behind the row";
    }
  }
  static double sum_of(const std::vector<T>& x) {
    return exp_row(x.data(), std::ssize(x), static_cast<T*>(nullptr)).sum;
  }
};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ExpRow, Types);

TYPED_TEST(ExpRow, EveryTail) {
  Rng rng(3, 0);
  for (int64_t n = 1; n <= 70; ++n) {
    std::vector<TypeParam> x;
    for (int64_t c = 0; c < n; ++c) x.push_back(static_cast<TypeParam>(20 * rng.uniform() - 10));
    TestFixture::expect_right(x);
  }
}

TYPED_TEST(ExpRow, LargeAndSmallValues) {
  TestFixture::expect_right({TypeParam{80}, TypeParam{-80}, TypeParam{1000}, TypeParam{999}});
  TestFixture::expect_right(std::vector<TypeParam>(33, TypeParam{-1e30F}));
}

TYPED_TEST(ExpRow, HostileValues) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const std::string& target : available_targets()) {
    force_target(target);
    for (const int64_t n : {3, 16, 37})
      for (int64_t place = 0; place < n; ++place) {
        std::vector<T> x(static_cast<size_t>(n), T{1});
        x[static_cast<size_t>(place)] = nan;
        EXPECT_TRUE(std::isnan(this->sum_of(x))) << target << " " << n << " " << place;
        x[static_cast<size_t>(place)] = inf;
        EXPECT_TRUE(std::isnan(this->sum_of(x))) << target << " " << n << " " << place;
        x[static_cast<size_t>(place)] = -inf;
        EXPECT_NEAR(this->sum_of(x), static_cast<double>(n - 1), 1e-6) << target;
      }
    EXPECT_TRUE(std::isnan(this->sum_of(std::vector<T>(5, -inf))));
  }
}

}  // namespace
}  // namespace egc::kernels
