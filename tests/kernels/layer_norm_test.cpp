// Normalizing rows against the scalar reference: every number of columns, every instruction set,
// both precisions, forward and backward.
#include "egc/engine/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "egc/kernels/reference.h"
#include "egc/kernels/target.h"
#include "tests/core/thread_count.h"
#include "tests/kernels/compare.h"
#include "tests/kernels/random_problem.h"

namespace egc {
namespace {

using kernels::ReferenceLayerNorm;
using testing::cast;
using testing::grid_values;
using testing::Output;
using testing::same_bits;
using testing::tolerance;
using testing::worst;

template <class T>
struct Result {
  Output<T> normal, inv_std, grad_x;
};

template <class T>
Result<T> run(const std::vector<double>& x, const std::vector<double>& g, int64_t rows,
              int64_t columns) {
  Result<T> r{Output<T>(x.size()), Output<T>(rows), Output<T>(x.size())};
  const std::vector<T> from = cast<T>(x);
  const std::vector<T> grad = cast<T>(g);
  normalize_rows(from.data(), rows, columns, static_cast<T>(kernels::kNormEpsilon), r.normal.data(),
                 r.inv_std.data());
  normalize_rows_backward<T>(r.normal.data(), r.inv_std.data(), grad.data(), rows, columns,
                             r.grad_x.data());
  return r;
}

class LayerNormKernel : public ::testing::Test {
 protected:
  void TearDown() override { kernels::force_target(""); }
};

template <class T>
void compare(const std::vector<double>& x, const std::vector<double>& g, int64_t rows,
             int64_t columns, const std::string& target) {
  const ReferenceLayerNorm want = kernels::reference_layer_norm(x, g, rows, columns);
  const Result<T> got = run<T>(x, g, rows, columns);
  const std::string what = fmt::format("{} f{} {}x{} ", target, 8 * sizeof(T), rows, columns);
  // A row of equal values has a deviation of sqrt(eps): its gradient is 300 times as large.
  EXPECT_LE(worst(got.normal, want.normal), 4 * tolerance<T>()) << what << "normal";
  EXPECT_LE(worst(got.grad_x, want.grad_x), 4 * tolerance<T>()) << what << "grad_x";
}

TEST_F(LayerNormKernel, IsTheReferenceForEveryNumberOfColumns) {
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    for (int64_t columns = 1; columns <= 67; ++columns) {
      const auto x = grid_values(5 * columns, 61);
      const auto g = grid_values(5 * columns, 62);
      compare<float>(x, g, 5, columns, target);
      compare<double>(x, g, 5, columns, target);
    }
    for (const int64_t rows : {0, 1, 700}) {
      const auto x = grid_values(rows * 24, 63);
      const auto g = grid_values(rows * 24, 64);
      compare<float>(x, g, rows, 24, target);
      compare<double>(x, g, rows, 24, target);
    }
  }
}

// Sums of large, nearly equal values lose their digits unless an origin is taken away.
TEST_F(LayerNormKernel, LargeMeansCostNoDigits) {
  constexpr int64_t kColumns = 300;
  std::vector<double> x;
  for (int64_t c = 0; c < kColumns; ++c) x.push_back(4096 + static_cast<double>(c % 7));
  const std::vector<double> g = grid_values(kColumns, 65);
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    compare<float>(x, g, 1, kColumns, target);
  }
}

TEST_F(LayerNormKernel, NanStaysInItsRow) {
  auto x = grid_values(3 * 19, 66);
  const auto g = grid_values(3 * 19, 67);
  const Result<float> tame = run<float>(x, g, 3, 19);
  x[19 + 5] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<float> want = tame.normal.values();
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    const std::vector<float> got = run<float>(x, g, 3, 19).normal.values();
    for (int c = 0; c < 19; ++c) {
      EXPECT_NEAR(got[c], want[c], 1e-5) << target;
      EXPECT_TRUE(std::isnan(got[19 + c])) << target;
      EXPECT_NEAR(got[38 + c], want[38 + c], 1e-5) << target;
    }
  }
}

TEST_F(LayerNormKernel, SameBitsForAnyNumberOfThreads) {
  const auto x = grid_values(1500 * 21, 68);
  const auto g = grid_values(1500 * 21, 69);
  const auto with = [&](int threads) {
    const testing::ThreadCount count(threads);
    return run<float>(x, g, 1500, 21);
  };
  const Result<float> one = with(1);
  for (const int threads : {2, 3, 8}) {
    const Result<float> more = with(threads);
    EXPECT_TRUE(same_bits(more.normal, one.normal)) << threads;
    EXPECT_TRUE(same_bits(more.grad_x, one.grad_x)) << threads;
  }
}

}  // namespace
}  // namespace egc
