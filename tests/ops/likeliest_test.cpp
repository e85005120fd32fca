#include "egc/ops/likeliest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/core/thread_count.h"

namespace egc::ops {
namespace {

// As it is defined, one after the other.
int64_t by_definition(const std::vector<float>& x) {
  size_t best = 0;
  for (size_t c = 1; c < x.size() && !std::isnan(x[best]); ++c)
    if (!(x[c] <= x[best])) best = c;
  return static_cast<int64_t>(best);
}

TEST(Likeliest, AnyNumberOfClassesAndAnyPlace) {
  for (const int64_t classes : {1, 2, 31, 32, 33, 64, 77, 200})
    for (int64_t place = 0; place < classes; ++place) {
      std::vector<float> x(static_cast<size_t>(classes), -3.0F);
      x[static_cast<size_t>(place)] = -1.0F;
      EXPECT_EQ(likeliest(x.data(), classes), place) << classes;
      x.back() = -1.0F;  // the first of two counts
      EXPECT_EQ(likeliest(x.data(), classes), by_definition(x)) << classes;
      x[static_cast<size_t>(classes / 2)] = std::nanf("");
      EXPECT_EQ(likeliest(x.data(), classes), by_definition(x)) << classes << " " << place;
    }
}

TEST(Likeliest, InfinityAndNothingElse) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> low(40, -inf);
  EXPECT_EQ(likeliest(low.data(), 40), 0);
  std::vector<float> high = low;
  high[37] = inf;
  EXPECT_EQ(likeliest(high.data(), 40), 37);
}

TEST(Likeliest, OfManyRows) {
  const testing::ThreadCount threads(3);
  const Tensor scores = Tensor::zeros(500, 3 * 50, DType::kF32);
  for (int64_t k = 0; k < 1500; ++k) scores.data<float>()[k * 50 + k % 50] = 1;
  std::vector<int64_t> out = {7};
  append_likeliest(out, scores, 50);
  ASSERT_EQ(out.size(), 1501U);
  EXPECT_EQ(out[0], 7);
  for (int64_t k = 0; k < 1500; ++k) EXPECT_EQ(out[static_cast<size_t>(k + 1)], k % 50);
}

}  // namespace
}  // namespace egc::ops
