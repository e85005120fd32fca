// Batch norm, ReLU, dropout and residual against the scalar reference: every number of columns,
// rows around the size of a block, every instruction set, both precisions, forward and backward.
#include "egc/engine/norm_act.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "egc/engine/epilogue.h"
#include "egc/kernels/target.h"
#include "tests/core/thread_count.h"
#include "tests/kernels/compare.h"
#include "tests/kernels/random_problem.h"

namespace egc {
namespace {

using kernels::NormAct;
using kernels::ReferenceNormAct;
using kernels::ReferenceNormActInput;
using testing::cast;
using testing::grid_values;
using testing::Output;
using testing::same_bits;
using testing::tolerance;
using testing::worst;

enum class Norm { kNone, kConstants, kOfThisBatch };
constexpr Norm kNorms[] = {Norm::kNone, Norm::kConstants, Norm::kOfThisBatch};

struct Problem {
  int64_t rows = 0;
  int64_t columns = 0;
  Norm norm = Norm::kNone;
  bool relu = false;
  std::vector<double> x;
  std::vector<double> weight;
  std::vector<double> bias;
  std::vector<double> mean;  // of kConstants
  std::vector<double> variance;
  std::vector<double> residual;  // empty: none
  std::vector<double> keep;      // empty: no dropout
  std::vector<double> grad_y;

  std::string name() const {
    return fmt::format("{}x{} norm={} relu={} residual={} dropout={}", rows, columns,
                       static_cast<int>(norm), relu, !residual.empty(), !keep.empty());
  }
};

ReferenceNormAct reference(const Problem& p) {
  ReferenceNormActInput in;
  in.rows = p.rows;
  in.columns = p.columns;
  in.x = p.x.data();
  if (p.norm != Norm::kNone) {
    in.weight = p.weight.data();
    in.bias = p.bias.data();
  }
  if (p.norm == Norm::kConstants) {
    in.mean = p.mean.data();
    in.variance = p.variance.data();
  }
  in.relu = p.relu;
  in.keep = p.keep.empty() ? nullptr : p.keep.data();
  in.residual = p.residual.empty() ? nullptr : p.residual.data();
  in.grad_y = p.grad_y.data();
  return kernels::reference_norm_act(in);
}

Problem make_problem(int64_t rows, int64_t columns, Norm norm, bool relu, bool residual) {
  Problem p;
  p.rows = rows;
  p.columns = columns;
  p.norm = norm;
  p.x = grid_values(rows * columns, 41);
  p.weight = grid_values(columns, 42);
  p.bias = grid_values(columns, 43);
  p.mean = grid_values(columns, 44);
  p.variance = grid_values(columns, 45);
  for (double& v : p.variance) v += 2.5;
  p.grad_y = grid_values(rows * columns, 46);
  // No gradient comes in where rounding decides whether the ReLU lets it through.
  const std::vector<double> before = reference(p).y;
  for (size_t k = 0; norm != Norm::kNone && k < before.size(); ++k)
    if (std::abs(before[k]) < 1e-3) p.grad_y[k] = 0;
  p.relu = relu;
  if (residual) p.residual = grid_values(rows * columns, 47);
  return p;
}

// The problem in one precision, normalised by the reference's mean and variance.
template <class T>
struct Inputs {
  std::vector<T> x, residual, grad_y, scale, shift, mean, inv_std;
  NormAct<T> op;
  NormStatistics<T> statistics;
  double max_scaled = 1;  // the largest terms of the output and of the gradient of x
  double max_scale = 1;

  Inputs(const Problem& p, const ReferenceNormAct& want)
      : x(cast<T>(p.x)), residual(cast<T>(p.residual)), grad_y(cast<T>(p.grad_y)) {
    for (int64_t c = 0; c < p.columns; ++c) {
      const double inverse = 1.0 / std::sqrt(want.variance[c] + kernels::kNormEpsilon);
      const double factor = p.weight[c] * inverse;
      mean.push_back(static_cast<T>(want.mean[c]));
      inv_std.push_back(static_cast<T>(inverse));
      scale.push_back(static_cast<T>(factor));
      shift.push_back(static_cast<T>(p.bias[c] - want.mean[c] * factor));
      max_scale = std::max(max_scale, 2 * std::abs(factor));
      max_scaled = std::max(max_scaled, std::abs(want.mean[c] * factor));
    }
    if (p.norm != Norm::kNone) {
      op.scale = scale.data();
      op.shift = shift.data();
      statistics = {mean.data(), inv_std.data(), p.norm == Norm::kOfThisBatch};
    }
    op.relu = p.relu;
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  const T* residual_or_null() const { return residual.empty() ? nullptr : residual.data(); }
};

template <class T>
struct Result {
  Output<T> mean, variance, y, grad_x, grad_weight, grad_bias;

  explicit Result(const Problem& p)
      : mean(p.columns),
        variance(p.columns),
        y(p.x.size()),
        grad_x(p.x.size()),
        grad_weight(p.columns),
        grad_bias(p.columns) {}

  std::vector<const Output<T>*> all() const {
    return {&mean, &variance, &y, &grad_x, &grad_weight, &grad_bias};
  }
};

template <class T>
Result<T> run(const Problem& p, const Inputs<T>& in) {
  Result<T> r(p);
  column_statistics(in.x.data(), p.rows, p.columns, r.mean.data(), r.variance.data());
  norm_act_forward(in.op, p.rows, p.columns, in.x.data(), in.residual_or_null(), r.y.data());
  norm_act_backward(in.op, in.statistics, p.rows, p.columns, in.x.data(), in.grad_y.data(),
                    r.grad_x.data(), r.grad_weight.data(), r.grad_bias.data());
  return r;
}

template <class T>
void compare(const Problem& p, const ReferenceNormAct& want, const std::string& target,
             double drop = 0.0, uint64_t seed = 0) {
  Inputs<T> in(p, want);
  in.op.drop = drop;
  in.op.seed = seed;
  const Result<T> got = run(p, in);
  const std::string what = fmt::format("{} f{} {}: ", target, 8 * sizeof(T), p.name());
  const double most = tolerance<T>();
  EXPECT_LE(worst(got.y, want.y, in.max_scaled), most) << what << "y";
  EXPECT_LE(worst(got.grad_x, want.grad_x, in.max_scale), most) << what << "grad_x";
  for (const Output<T>* output : got.all()) EXPECT_TRUE(output->margins_are_intact()) << what;
  if (p.norm == Norm::kOfThisBatch) {
    EXPECT_LE(worst(got.mean, want.mean), most) << what << "mean";
    EXPECT_LE(worst(got.variance, want.variance), most) << what << "variance";
  }
  if (p.norm != Norm::kNone) {
    EXPECT_LE(worst(got.grad_weight, want.grad_weight), most) << what << "grad_weight";
    EXPECT_LE(worst(got.grad_bias, want.grad_bias), most) << what << "grad_bias";
  } else {
    for (const T v : got.grad_weight.values()) ASSERT_TRUE(std::isnan(v)) << what << "touched";
    for (const T v : got.grad_bias.values()) ASSERT_TRUE(std::isnan(v)) << what << "touched";
  }
}

class NormActTest : public ::testing::Test {
 protected:
  void TearDown() override { kernels::force_target(""); }

  template <class F>
  void on_every_target(F&& f) {
    for (const std::string& target : kernels::available_targets()) {
      kernels::force_target(target);
      ASSERT_EQ(kernels::current_target(), target);
      f(target);
    }
  }

  void compare_everywhere(const Problem& p) {
    const ReferenceNormAct want = reference(p);
    on_every_target([&](const std::string& target) {
      compare<float>(p, want, target);
      compare<double>(p, want, target);
    });
  }

 private:
  // Thousands of small calls: waking threads for each would take longer than the work. The test
  // of threads sets its own number.
  testing::ThreadCount one_{1};
};

constexpr int64_t kRows[] = {0, 1, 2, 255, 256, 257, 1000};

TEST_F(NormActTest, EveryColumnCount) {
  int64_t k = 0;
  for (int64_t columns = 1; columns <= 37; ++columns)
    for (const int64_t rows : kRows) {
      ++k;  // the twelve variants take turns; seven a column count
      compare_everywhere(
          make_problem(rows, columns, kNorms[k % 3], k / 3 % 2 == 0, k / 6 % 2 == 0));
    }
}

TEST_F(NormActTest, EveryVariant) {
  for (const Norm norm : kNorms)
    for (const bool relu : {false, true})
      for (const bool residual : {false, true})
        for (const int64_t columns : {1, 4, 15, 16, 37, 100})
          for (const int64_t rows : {0, 1, 2, 257})
            compare_everywhere(make_problem(rows, columns, norm, relu, residual));
}

// --- statistics ---

template <class T>
void check_statistics(const std::vector<double>& x, int64_t columns, double max_error,
                      const std::string& what) {
  const auto rows = static_cast<int64_t>(x.size()) / columns;
  std::vector<double> mean(columns, 0.0);
  std::vector<double> variance(columns, 0.0);
  for (size_t k = 0; k < x.size(); ++k) mean[k % columns] += x[k] / static_cast<double>(rows);
  for (size_t k = 0; k < x.size(); ++k)
    variance[k % columns] +=
        (x[k] - mean[k % columns]) * (x[k] - mean[k % columns]) / static_cast<double>(rows);
  Output<T> got_mean(columns);
  Output<T> got_variance(columns);
  column_statistics(cast<T>(x).data(), rows, columns, got_mean.data(), got_variance.data());
  for (int64_t c = 0; c < columns; ++c) {
    ASSERT_NEAR(got_mean.values()[c], mean[c], 1e-6 * std::abs(mean[c]) + 1e-6)
        << what << " rows=" << rows << " column " << c;
    const double rounding = sizeof(T) == 4 ? 1e-7 * mean[c] : 0.0;  // of the values themselves
    ASSERT_NEAR(got_variance.values()[c], variance[c],
                max_error * variance[c] + rounding * rounding)
        << what << " rows=" << rows << " column " << c;
  }
}

// Exact in float, so that float and double see the same data.
std::vector<double> around(double centre, double spread, int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<double> x(count);
  for (double& v : x)
    v = static_cast<float>(centre + spread * (2.0 * static_cast<double>(rng.uniform()) - 1.0));
  return x;
}

// E[x^2] - E[x]^2 would be garbage here.
TEST_F(NormActTest, VarianceWithoutCancellation) {
  on_every_target([](const std::string& target) {
    for (const int64_t rows : {2, 255, 256, 257, 1000, 20'000})
      for (const int64_t columns : {1, 5, 16}) {
        const std::vector<double> x = around(1000.0, 0.1, rows * columns, 5);
        check_statistics<float>(x, columns, 0.01, target);
        check_statistics<double>(x, columns, 1e-9, target);
      }
  });
}

// More than 512 blocks of 256 rows: the blocks grow, and with them the sums inside.
TEST_F(NormActTest, StatisticsOfManyRows) {
  const std::vector<double> x = around(100.1, 1.0, 2'000'000, 7);
  check_statistics<float>(x, 1, 0.01, "many rows");
  check_statistics<double>(x, 1, 1e-9, "many rows");
}

// Where values are alike, the roundings of a running sum in float all have one direction. The mean
// must not drift away from the values, nor its error show up as variance beside an epsilon of 1e-5:
// a constant column is normalised to zero.
TEST_F(NormActTest, StatisticsOfNearlyEqualValues) {
  for (const double spread : {0.0, 0.001})
    for (const int64_t rows : {1, 2, 255, 256, 1000, 100'000, 2'000'000}) {
      const std::vector<double> x = around(1000.1, spread, rows, 6);
      double want = 0;
      for (const double v : x) want += v / static_cast<double>(rows);
      Output<float> mean(1);
      Output<float> variance(1);
      column_statistics(cast<float>(x).data(), rows, 1, mean.data(), variance.data());
      EXPECT_NEAR(mean.values()[0], want, 5e-4)
          << rows << " rows";  // eight units in the last place
      EXPECT_NEAR(variance.values()[0], spread * spread / 3, 1e-6) << rows << " rows";
    }
}

// --- ReLU ---

TEST_F(NormActTest, ReluKeepsNaN) {
  on_every_target([](const std::string& target) {
    for (int64_t columns = 1; columns <= 37; ++columns) {
      constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
      std::vector<float> x(columns * 3, -1.0F);
      for (int64_t c = 0; c < columns; ++c) {
        x[c] = kNaN;
        x[2 * columns + c] = INFINITY;
      }
      NormAct<float> op;
      op.relu = true;
      Output<float> y(x.size());
      norm_act_forward<float>(op, 3, columns, x.data(), nullptr, y.data());
      const std::vector<float> got = y.values();
      for (int64_t c = 0; c < columns; ++c) {
        ASSERT_TRUE(std::isnan(got[c])) << target << " " << columns;
        ASSERT_EQ(got[columns + c], 0.0F) << target << " " << columns;
        ASSERT_EQ(got[2 * columns + c], INFINITY) << target << " " << columns;
      }
    }
  });
}

TEST_F(NormActTest, NoGradientAtTheKink) {
  const std::vector<double> x = {-1, -0.0, 0, 1, 2};
  const std::vector<double> grad_y = {10, 20, 30, 40, 50};
  NormAct<double> op;
  op.relu = true;
  Output<double> grad_x(x.size());
  norm_act_backward<double>(op, {}, 1, 5, x.data(), grad_y.data(), grad_x.data(), nullptr, nullptr);
  EXPECT_EQ(grad_x.values(), (std::vector<double>{0, 0, 0, 40, 50}));
}

// --- dropout ---

// The factors of dropout, as the forward pass applies them.
template <class T>
std::vector<T> forward_mask(double drop, uint64_t seed, int64_t rows, int64_t columns) {
  const std::vector<T> ones(rows * columns, T{1});
  NormAct<T> op;
  op.drop = drop;
  op.seed = seed;
  Output<T> y(ones.size());
  norm_act_forward<T>(op, rows, columns, ones.data(), nullptr, y.data());
  EXPECT_TRUE(y.margins_are_intact());
  return y.values();
}

template <class T>
std::vector<T> backward_mask(double drop, uint64_t seed, int64_t rows, int64_t columns) {
  const std::vector<T> ones(rows * columns, T{1});
  NormAct<T> op;
  op.drop = drop;
  op.seed = seed;
  Output<T> grad_x(ones.size());
  norm_act_backward<T>(op, {}, rows, columns, ones.data(), ones.data(), grad_x.data(), nullptr,
                       nullptr);
  EXPECT_TRUE(grad_x.margins_are_intact());
  return grad_x.values();
}

// What a row drops is a function of the seed and the row alone: checkpoints depend on it.
TEST_F(NormActTest, DropsWhatTheGeneratorSays) {
  constexpr double kDrop = 0.3;
  constexpr uint64_t kSeed = 0x123456789ABCDEF1;
  on_every_target([](const std::string& target) {
    for (const int64_t columns : {1, 7, 8, 9, 31, 63, 64, 65, 200}) {
      constexpr int64_t kRows = 3;
      const std::vector<float> mask = forward_mask<float>(kDrop, kSeed, kRows, columns);
      const std::vector<double> wide = forward_mask<double>(kDrop, kSeed, kRows, columns);
      for (int64_t i = 0; i < kRows; ++i)
        for (int64_t c = 0; c < columns; ++c) {
          const Rng rng(kSeed, static_cast<uint64_t>(i));
          const uint32_t word = rng.word(static_cast<uint64_t>(c / 2));
          const uint32_t drawn = word >> 16 * (c % 2) & 0xFFFFU;
          const bool dropped = drawn < std::round(kDrop * 65536.0);
          const auto at = static_cast<size_t>(i * columns + c);
          ASSERT_EQ(mask[at] == 0.0F, dropped) << target << ' ' << columns << ' ' << i << ' ' << c;
          ASSERT_EQ(wide[at] == 0.0, dropped) << target << ' ' << columns << ' ' << i << ' ' << c;
        }
    }
  });
}

// Sixteen bits decide, so the probability is a multiple of 2^-16; the factor undoes just that one.
double probability_used(double drop) { return std::round(drop * 65536.0) / 65536.0; }

TEST_F(NormActTest, DropoutKeepsTheRightShare) {
  constexpr int64_t kManyRows = 2000;
  constexpr int64_t kColumns = 37;
  const auto bound = [](double p, double n) { return 5.0 * std::sqrt(p * (1 - p) / n); };
  for (const double drop : {0.01, 0.1, 0.3, 0.5, 0.8, 0.99}) {
    const std::vector<float> mask = forward_mask<float>(drop, 17, kManyRows, kColumns);
    const auto factor = static_cast<float>(1.0 / (1.0 - probability_used(drop)));
    EXPECT_NEAR(factor, 1.0 / (1.0 - drop), 1e-3 / (1.0 - drop));
    std::vector<double> of_column(kColumns, 0.0);
    std::vector<double> of_row(kManyRows, 0.0);
    for (size_t k = 0; k < mask.size(); ++k) {
      ASSERT_TRUE(mask[k] == 0.0F || mask[k] == factor) << "p=" << drop << " got " << mask[k];
      of_column[k % kColumns] += mask[k] != 0;
      of_row[k / kColumns] += mask[k] != 0;
    }
    double kept = 0;
    for (const double n : of_column) {
      EXPECT_NEAR(n / kManyRows, 1 - drop, bound(drop, kManyRows)) << "p=" << drop;
      kept += n;
    }
    EXPECT_NEAR(kept / static_cast<double>(mask.size()), 1 - drop,
                bound(drop, static_cast<double>(mask.size())));
    for (const double n : of_row)  // fewer elements, so a long tail where p is not near a half
      if (drop == 0.5) {
        EXPECT_NEAR(n / kColumns, 0.5, bound(0.5, kColumns));
      }
  }
}

// Elements a step apart, in the same row or below one another, are kept independently.
TEST_F(NormActTest, DropoutIsIndependentBetweenElements) {
  constexpr int64_t kManyRows = 2000;
  constexpr int64_t kColumns = 40;
  const std::vector<float> mask = forward_mask<float>(0.5, 18, kManyRows, kColumns);
  for (const int64_t step :
       {int64_t{1}, int64_t{2}, int64_t{4}, int64_t{7}, int64_t{8}, kColumns, 256 * kColumns}) {
    double both = 0;
    double pairs = 0;
    for (size_t k = 0; k + step < mask.size(); ++k) {
      both += mask[k] != 0 && mask[k + step] != 0;
      pairs += 1;
    }
    EXPECT_NEAR(both / pairs, 0.25, 5.0 * std::sqrt(0.25 * 0.75 / pairs)) << "step " << step;
  }
}

TEST_F(NormActTest, DropoutMaskIsAFunctionOfSeedRowAndColumn) {
  const std::vector<float> mask = forward_mask<float>(0.3, 99, 300, 37);
  on_every_target([&](const std::string& target) {
    EXPECT_EQ(forward_mask<float>(0.3, 99, 300, 37), mask) << target;
    EXPECT_EQ(backward_mask<float>(0.3, 99, 300, 37), mask) << target;
    for (const int64_t columns : {1, 5, 8, 9, 16, 31}) {  // a narrower matrix: the same elements
      const std::vector<float> narrow = forward_mask<float>(0.3, 99, 300, columns);
      ASSERT_EQ(backward_mask<float>(0.3, 99, 300, columns), narrow);
      for (int64_t i = 0; i < 300; ++i)
        for (int64_t c = 0; c < columns; ++c)
          ASSERT_EQ(narrow[i * columns + c], mask[i * 37 + c]) << target << " " << columns;
    }
    const std::vector<double> in_double = forward_mask<double>(0.3, 99, 300, 37);
    for (size_t k = 0; k < mask.size(); ++k) ASSERT_EQ(in_double[k] != 0, mask[k] != 0) << target;
  });
  const std::vector<float> fewer = forward_mask<float>(0.3, 99, 100, 37);  // other blocks of rows
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), mask.begin()));
  // Seeds that differ in one bit, also above the 32nd, agree no more than chance lets them.
  for (const uint64_t other : {uint64_t{98}, uint64_t{99} | uint64_t{1} << 40}) {
    const std::vector<float> second = forward_mask<float>(0.3, other, 300, 37);
    double same = 0;
    for (size_t k = 0; k < mask.size(); ++k) same += mask[k] == second[k];
    const double chance = 0.3 * 0.3 + 0.7 * 0.7;
    EXPECT_NEAR(same / static_cast<double>(mask.size()), chance,
                5.0 * std::sqrt(chance * (1 - chance) / static_cast<double>(mask.size())));
  }
}

TEST_F(NormActTest, DropoutOfNothingAndOfAlmostEverything) {
  constexpr int64_t kManyRows = 40'000;  // enough to meet the rarest of 2^16 draws
  const std::vector<float> x = cast<float>(grid_values(kManyRows * 19, 3));
  for (const double drop : {0.0, 1e-9}) {  // the second rounds to none
    NormAct<float> op;
    op.drop = drop;
    op.seed = 5;
    Output<float> y(x.size());
    norm_act_forward<float>(op, kManyRows, 19, x.data(), nullptr, y.data());
    EXPECT_TRUE(y.values() == x) << drop;  // not printed: it is long
  }
  for (const float v : forward_mask<float>(1 - 1e-9, 5, 300, 19)) ASSERT_EQ(v, 0.0F);
}

template <class T>
void compare_dropout(Problem p, double drop, uint64_t seed, const std::string& target) {
  const std::vector<T> mask = forward_mask<T>(drop, seed, p.rows, p.columns);
  p.keep.assign(mask.begin(), mask.end());
  compare<T>(p, reference(p), target, drop, seed);
}

// With everything before and after it, forward and backward, where one mask must serve three loops.
TEST_F(NormActTest, DropoutInEveryVariant) {
  on_every_target([](const std::string& target) {
    for (const Norm norm : kNorms)
      for (const bool relu : {false, true})
        for (const bool residual : {false, true})
          for (const int64_t columns : {1, 7, 8, 16, 37})
            for (const int64_t rows : {0, 1, 257}) {
              const Problem p = make_problem(rows, columns, norm, relu, residual);
              compare_dropout<float>(p, 0.3, 1234567, target);
              compare_dropout<double>(p, 0.3, 1234567, target);
            }
  });
}

// --- where it reads and writes ---

TEST_F(NormActTest, InPlace) {
  const Problem p = make_problem(300, 19, Norm::kConstants, true, true);
  const Inputs<float> in(p, reference(p));
  const Result<float> want = run(p, in);
  std::vector<float> x = in.x;
  norm_act_forward<float>(in.op, p.rows, p.columns, x.data(), in.residual.data(), x.data());
  EXPECT_EQ(x, want.y.values());
}

TEST_F(NormActTest, EpilogueTouchesItsColumnsOnly) {
  constexpr int64_t kColumns = 37;
  const Problem p = make_problem(9, kColumns, Norm::kConstants, true, true);
  on_every_target([&](const std::string& target) {
    const Inputs<float> in(p, reference(p));
    const std::vector<float> want = run(p, in).y.values();
    const Epilogue<float> epilogue{in.op, in.residual.data()};
    const RowRange rows{2, 7};
    for (int64_t first = 0; first <= kColumns; ++first)
      for (int64_t width = 0; first + width <= kColumns; ++width) {
        std::vector<float> y = in.x;
        epilogue.apply(rows, kColumns, first, width, y.data());
        for (int64_t i = 0; i < p.rows; ++i)
          for (int64_t c = 0; c < kColumns; ++c) {
            const bool inside = i >= rows.begin && i < rows.end && c >= first && c < first + width;
            const int64_t at = i * kColumns + c;
            ASSERT_EQ(y[at], inside ? want[at] : in.x[at])
                << target << " [" << first << ", " << first + width << ") at " << i << ", " << c;
          }
      }
  });
}

TEST_F(NormActTest, SameBitsForAnyNumberOfThreads) {
  const Problem p = make_problem(5000, 37, Norm::kOfThisBatch, true, true);
  Inputs<float> in(p, reference(p));
  for (float& v : in.x) v *= 1.1F;  // off the grid, where the order of additions shows
  in.op.drop = 0.3;
  in.op.seed = 77;
  const Result<float> want = run(p, in);
  for (const int threads : {1, 2, 4, 8})
    for (int repeat = 0; repeat < 10; ++repeat) {
      const testing::ThreadCount several(threads);
      const Result<float> got = run(p, in);
      for (size_t k = 0; k < want.all().size(); ++k)
        ASSERT_TRUE(same_bits(*got.all()[k], *want.all()[k]))
            << threads << " threads, output " << k;
    }
}

// --- the gradient, without the reference ---

// Batch norm as a layer puts it together from these functions.
struct Layer {
  int64_t rows = 0;
  int64_t columns = 0;
  bool batch = false;
  bool relu = false;
  std::vector<double> x, weight, bias, mean, variance, residual, grad_y;
  std::vector<double> scale, shift, inv_std;

  std::vector<double> forward() {
    if (batch) column_statistics(x.data(), rows, columns, mean.data(), variance.data());
    scale.resize(columns);
    shift.resize(columns);
    inv_std.resize(columns);
    for (int64_t c = 0; c < columns; ++c) {
      inv_std[c] = 1.0 / std::sqrt(variance[c] + kernels::kNormEpsilon);
      scale[c] = weight[c] * inv_std[c];
      shift[c] = bias[c] - mean[c] * scale[c];
    }
    std::vector<double> y(x.size());
    norm_act_forward<double>(op(), rows, columns, x.data(), residual.data(), y.data());
    return y;
  }
  NormAct<double> op() const { return {scale.data(), shift.data(), relu}; }
};

TEST_F(NormActTest, FiniteDifferences) {
  constexpr int64_t kFew = 11;
  constexpr int64_t kColumns = 5;
  for (const bool batch : {false, true})
    for (const bool relu : {false, true}) {
      Rng rng(12);
      const auto random = [&](int64_t n, double from) {
        std::vector<double> v(n);
        for (double& d : v) d = from + 2.0 * static_cast<double>(rng.uniform());
        return v;
      };
      Layer layer;
      layer.rows = kFew;
      layer.columns = kColumns;
      layer.batch = batch;
      layer.relu = relu;
      layer.x = random(kFew * kColumns, -1);
      layer.weight = random(kColumns, -1);
      layer.bias = random(kColumns, -1);
      layer.mean = random(kColumns, -1);
      layer.variance = random(kColumns, 0.5);
      layer.residual = random(kFew * kColumns, -1);
      layer.grad_y = random(kFew * kColumns, -1);
      const std::vector<double> y = layer.forward();
      if (relu) {  // some are cut off, and none is near the kink
        const std::vector<double> plain = [&] {
          Layer without = layer;
          without.relu = false;
          return without.forward();
        }();
        int64_t cut = 0;
        for (size_t k = 0; k < y.size(); ++k) {
          ASSERT_GT(std::abs(plain[k] - layer.residual[k]), 1e-4);
          cut += plain[k] < layer.residual[k];
        }
        ASSERT_GT(cut, 5);
        ASSERT_LT(cut, kFew * kColumns - 5);
      }
      std::vector<double> grad_x(layer.x.size());
      std::vector<double> grad_weight(kColumns);
      std::vector<double> grad_bias(kColumns);
      norm_act_backward<double>(layer.op(), {layer.mean.data(), layer.inv_std.data(), batch}, kFew,
                                kColumns, layer.x.data(), layer.grad_y.data(), grad_x.data(),
                                grad_weight.data(), grad_bias.data());
      const auto objective = [&] {
        const std::vector<double> out = layer.forward();
        double sum = 0;
        for (size_t k = 0; k < out.size(); ++k) sum += out[k] * layer.grad_y[k];
        return sum;
      };
      const std::pair<std::vector<double>*, std::vector<double>*> pairs[] = {
          {&layer.x, &grad_x}, {&layer.weight, &grad_weight}, {&layer.bias, &grad_bias}};
      for (const auto& [v, grad] : pairs)
        for (size_t k = 0; k < v->size(); ++k) {
          constexpr double kStep = 1e-6;
          const double before = (*v)[k];
          (*v)[k] = before + kStep;
          const double above = objective();
          (*v)[k] = before - kStep;
          const double below = objective();
          (*v)[k] = before;
          ASSERT_NEAR((above - below) / (2 * kStep), (*grad)[k], 1e-7)
              << "batch=" << batch << " relu=" << relu << " element " << k;
        }
    }
}

}  // namespace
}  // namespace egc
