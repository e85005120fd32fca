// The fused operator where numbers are unkind: outliers, long rows, NaN and infinities. Against the
// scalar reference, on every instruction set, forward and backward.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "egc/engine/fused.h"
#include "egc/kernels/target.h"
#include "tests/kernels/random_problem.h"

namespace egc {
namespace {

using kernels::FusedShape;
using kernels::ReferenceInput;
using testing::aggregator_set;
using testing::cast;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Outputs and gradients of one problem with one head and one basis, or more.
struct Results {
  std::vector<double> out, bases, weights;
};

Results reference(const Csr& graph, const FusedShape& shape, const std::vector<double>& x,
                  const std::vector<double>& w, const std::vector<double>& g) {
  const ReferenceInput in{shape, graph.view(), x.data(), w.data(), nullptr};
  kernels::ReferenceGradients gradients = kernels::reference_backward(in, g.data());
  return {kernels::reference_forward(in), gradients.bases, gradients.weights};
}

template <class T>
Results fused(const Csr& graph, const FusedShape& shape, const std::vector<double>& x,
              const std::vector<double>& w, const std::vector<double>& g) {
  const std::vector<T> xt = cast<T>(x);
  const std::vector<T> wt = cast<T>(w);
  const FusedProblem<T> p{graph, shape, SliceLayout::row_major(shape.bases, shape.head_width),
                          xt.data(), wt.data()};
  std::vector<T> out(g.size());
  std::vector<T> grad_bases(x.size());
  std::vector<T> grad_weights(w.size());
  fused_forward<T>(p, nullptr, out.data());
  fused_backward<T>(p, cast<T>(g).data(), grad_bases.data(), grad_weights.data());
  return {{out.begin(), out.end()},
          {grad_bases.begin(), grad_bases.end()},
          {grad_weights.begin(), grad_weights.end()}};
}

class HostileValuesTest : public ::testing::Test {
 protected:
  void TearDown() override { kernels::force_target(""); }

  template <class F>
  void on_every_target(F&& f) {
    for (const std::string& target : kernels::available_targets()) {
      kernels::force_target(target);
      f(target);
    }
  }
};

// One row with `degree` messages at 1000 +- 0.1, one of which, if any, is 0: 10^4 deviations away.
struct Hub {
  Csr graph;
  std::vector<double> x;
  int64_t outlier;
};

Hub make_hub(int64_t degree, int64_t outlier) {
  Rng rng(3);
  std::vector<int64_t> source(degree);
  const std::vector<int64_t> target(degree, 0);
  std::vector<double> x(degree);
  for (int64_t j = 0; j < degree; ++j) {
    source[j] = j;
    x[j] = static_cast<float>(1000.0 + 0.1 * (2.0 * rng.uniform() - 1.0));
  }
  if (outlier >= 0) x[outlier] = 0.0;
  return {Csr::from_edges(1, degree, source, target), x, outlier};
}

double largest(const std::vector<double>& v, int64_t but = -1) {
  double most = 0;
  for (size_t k = 0; k < v.size(); ++k)
    if (static_cast<int64_t>(k) != but) most = std::max(most, std::abs(v[k]));
  return most;
}

void expect_exact(const Hub& hub, const AggregatorSet& set, const std::string& what) {
  const FusedShape shape{set, SelfLoops::kNone, 1, 1, 1};
  const std::vector<double> ones(set.size(), 1.0);
  const Results want = reference(hub.graph, shape, hub.x, ones, {1.0});
  const Results got = fused<float>(hub.graph, shape, hub.x, ones, {1.0});
  for (int a = 0; a < set.size(); ++a)  // each aggregate by itself
    EXPECT_LE(std::abs(got.weights[a] - want.weights[a]), 1e-4 * std::abs(want.weights[a]) + 1e-12)
        << what << ": " << name_of(set[a]);
  EXPECT_LE(std::abs(got.out[0] - want.out[0]), 1e-4 * std::abs(want.out[0])) << what;
  // Measured by the others' gradients, which are 10^4 times smaller than an outlier's. Sets without
  // a sum have the mean in float32 only, 3e-4 of the deviation there: by the largest of all.
  const bool exact_mean = set.has(Aggregator::kAdd) || set.has(Aggregator::kMean);
  const double scale = largest(want.bases, exact_mean ? hub.outlier : -1);
  double difference = 0;
  for (size_t k = 0; k < hub.x.size(); ++k)
    if (exact_mean && static_cast<int64_t>(k) == hub.outlier)
      EXPECT_LE(std::abs(got.bases[k] - want.bases[k]), 1e-4 * std::abs(want.bases[k])) << what;
    else
      difference = std::max(difference, std::abs(got.bases[k] - want.bases[k]));
  EXPECT_LE(difference, 1e-4 * scale) << what << ": gradient";
}

TEST_F(HostileValuesTest, VarianceWithAnOutlierAnywhere) {
  on_every_target([](const std::string& target) {
    for (const int64_t degree :
         {1, 2, 3, 10, 63, 64, 65, 66, 127, 129, 1000, 2049, 10'000, 100'000})
      for (const int64_t outlier : {int64_t{-1}, int64_t{0}, int64_t{1}, degree / 2, degree - 1}) {
        if (outlier >= degree || (outlier < 0 && degree < 10)) continue;
        const Hub hub = make_hub(degree, outlier);
        const std::string what = fmt::format("{} degree {} outlier {}", target, degree, outlier);
        const bool mild = outlier >= 0;  // without one, only exact means are near enough
        for (const unsigned mask : {64U, 32U, 96U, 127U & ~4U, 32U | 8U, 64U | 8U | 16U})
          if (mild) expect_exact(hub, aggregator_set(mask), what);
        for (const unsigned mask : {64U | 1U, 32U | 2U, 64U | 1U | 8U})
          expect_exact(hub, aggregator_set(mask), what);
      }
  });
}

TEST_F(HostileValuesTest, VarianceOfAMillion) {
  for (const int64_t outlier : {-1, 0, 500'000, 999'999})
    expect_exact(make_hub(1'000'000, outlier), aggregator_set(64 | 32 | 1 | 2),
                 fmt::format("outlier {}", outlier));
}

// The first half near 0, the second near 1000; and values that all are the same.
TEST_F(HostileValuesTest, VarianceOfTwoClustersAndOfNone) {
  for (const int64_t degree : {100, 5000, 200'000}) {
    Hub hub = make_hub(degree, -1);
    for (int64_t j = 0; j < degree / 2; ++j) hub.x[j] = static_cast<float>(hub.x[j] - 1000.0);
    expect_exact(hub, aggregator_set(64 | 32 | 1), fmt::format("two clusters, {}", degree));
    std::fill(hub.x.begin(), hub.x.end(), 1000.1F);
    const FusedShape shape{{Aggregator::kVar}, SelfLoops::kNone, 1, 1, 1};
    EXPECT_LE(fused<float>(hub.graph, shape, hub.x, {1.0}, {1.0}).out[0], 1e-7) << degree;
  }
}

// The hub's own value is met first as its self-loop; the leaves' rows pull at it.
TEST_F(HostileValuesTest, StarWithSelfLoops) {
  for (const int64_t leaves : {100, 10'000, 300'000}) {
    std::vector<int64_t> source;
    std::vector<int64_t> target;
    for (int64_t j = 1; j <= leaves; ++j) {
      source.insert(source.end(), {j, 0});
      target.insert(target.end(), {0, j});
    }
    const Csr graph = Csr::from_edges(leaves + 1, source, target);
    std::vector<double> x = make_hub(leaves + 1, 0).x;
    const FusedShape shape{{Aggregator::kStd, Aggregator::kMean}, SelfLoops::kAll, 1, 1, 1};
    std::vector<double> w(2 * (leaves + 1), 1.0);
    for (size_t k = 1; k < w.size(); k += 2) w[k] = 0.25;  // so that their gradients do not cancel
    const std::vector<double> g(leaves + 1, 1.0);
    const Results want = reference(graph, shape, x, w, g);
    const Results got = fused<float>(graph, shape, x, w, g);
    for (const size_t k : {size_t{0}, size_t{1}, g.size() - 1}) {
      EXPECT_NEAR(got.out[k], want.out[k], 1e-4 * std::abs(want.out[k])) << leaves << ' ' << k;
      EXPECT_NEAR(got.bases[k], want.bases[k], 1e-4 * std::abs(want.bases[k]))
          << leaves << ' ' << k;
    }
  }
}

TEST_F(HostileValuesTest, SumOfAMillionEqualValues) {
  Hub hub = make_hub(1'000'000, -1);
  std::fill(hub.x.begin(), hub.x.end(), 1000.1F);
  const FusedShape shape{{Aggregator::kAdd}, SelfLoops::kNone, 1, 1, 1};
  on_every_target([&](const std::string& target) {
    EXPECT_NEAR(fused<float>(hub.graph, shape, hub.x, {1.0}, {1.0}).out[0], 1e6 * 1000.1, 1e5)
        << target;
  });
}

void expect_alike(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                  const std::string& what) {
  for (size_t k = 0; k < want.size(); ++k) {
    if (std::isnan(want[k]))
      ASSERT_TRUE(std::isnan(got[k])) << what << '[' << k << "]: " << got[k] << " instead of NaN";
    else if (std::isinf(want[k]))
      ASSERT_EQ(got[k], want[k]) << what << '[' << k << ']';
    else
      ASSERT_NEAR(got[k], want[k], tolerance * std::max(1.0, std::abs(want[k])))
          << what << '[' << k << ']';
  }
}

template <class T>
void hostile_rows(const std::string& target, bool weighted) {
  const Csr graph = testing::awkward_graph(weighted);
  const int64_t nodes = graph.num_targets();
  // Nodes 4 and 5 have loops, which symnorm skips where it adds its own.
  const std::vector<std::vector<std::pair<int64_t, double>>> cases = {
      {{7, kNan}}, {{1, kInf}}, {{1, -kInf}}, {{2, kNan}, {7, kNan}}, {{1, kInf}, {13, kNan}},
      {{4, kInf}}, {{5, -kInf}}};
  for (unsigned mask = 1; mask < 128; ++mask)
    for (size_t k = 0; k < cases.size(); ++k) {
      const SelfLoops mode =
          std::array{SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone}[(mask + k) % 3];
      const int64_t bases = 1 + mask % 2;
      const FusedShape shape{aggregator_set(mask), mode, bases, bases, 19};
      std::vector<double> x = testing::grid_values(nodes * bases * 19, 11);
      for (const auto& [node, value] : cases[k])
        for (const int64_t column : {0, 5, 18}) x[node * bases * 19 + column] = value;
      const std::vector<double> w = testing::grid_values(nodes * shape.weights_per_row(), 12);
      const std::vector<double> g = testing::grid_values(nodes * shape.out_width(), 13);
      const Results want = reference(graph, shape, x, w, g);
      const Results got = fused<T>(graph, shape, x, w, g);
      const std::string what = fmt::format("{} f{} set {} loops {} case {} weighted {}", target,
                                           8 * sizeof(T), mask, name_of(mode), k, weighted);
      const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-12;
      expect_alike(got.out, want.out, tolerance, what + ": output");
      expect_alike(got.bases, want.bases, tolerance, what + ": gradient of the bases");
      expect_alike(got.weights, want.weights, tolerance, what + ": gradient of the weights");
    }
}

TEST_F(HostileValuesTest, NanAndInfinityPropagate) {
  on_every_target([](const std::string& target) {
    for (const bool weighted : {false, true}) {
      hostile_rows<float>(target, weighted);
      hostile_rows<double>(target, weighted);
    }
  });
}

// What an aggregator outside the set would be must not matter: here it is infinite.
TEST_F(HostileValuesTest, OverflowOfWhatIsNotAskedFor) {
  constexpr int64_t kMessages = 40;
  const Csr graph = Csr::from_edges(
      1, kMessages,
      [] {
        std::vector<int64_t> all(kMessages);
        std::iota(all.begin(), all.end(), int64_t{0});
        return all;
      }(),
      std::vector<int64_t>(kMessages, 0));
  const auto output = [&](Aggregator a, const std::vector<double>& x) {
    const FusedShape shape{{a}, SelfLoops::kNone, 1, 1, 1};
    return fused<float>(graph, shape, x, {1.0}, {1.0}).out[0];
  };
  std::vector<double> far(kMessages, 0.0);
  far[3] = 1e20;
  on_every_target([&](const std::string& target) {
    EXPECT_EQ(output(Aggregator::kVar, std::vector<double>(kMessages, 1e37)), 0.0) << target;
    EXPECT_EQ(output(Aggregator::kStd, far), kInf) << target;
    EXPECT_NEAR(output(Aggregator::kMean, far), 1e20 / kMessages, 1e13) << target;
  });
}

// Dense graphs are walked in blocks of sources, wide rows without scratch.
TEST_F(HostileValuesTest, NanInBlocksAndInDirectRows) {
  const Csr dense = testing::dense_graph(60);
  on_every_target([&](const std::string& target) {
    for (const unsigned mask : {8U, 16U, 24U, 8U | 4U, 8U | 1U, 31U}) {
      const FusedShape shape{aggregator_set(mask), SelfLoops::kNone, 1, 1, kBlockedColumns};
      std::vector<double> x = testing::grid_values(dense.num_sources() * kBlockedColumns, 11);
      for (int64_t j = 0; j < dense.num_sources(); j += 97) x[j * kBlockedColumns + j % 64] = kNan;
      x[20 * kBlockedColumns] = kInf;
      const std::vector<double> w = testing::grid_values(60 * shape.weights_per_row(), 12);
      const std::vector<double> g = testing::grid_values(60 * shape.out_width(), 13);
      expect_alike(fused<float>(dense, shape, x, w, g).out, reference(dense, shape, x, w, g).out,
                   1e-5, fmt::format("{} set {}", target, mask));
    }
  });
}

}  // namespace
}  // namespace egc
