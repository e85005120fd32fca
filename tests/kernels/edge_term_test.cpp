// Messages with an edge term against the scalar reference: every aggregator set, every column tail,
// every instruction set, both precisions, forward and backward; hostile values and long sums.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "egc/core/parallel.h"
#include "egc/engine/fused.h"
#include "egc/kernels/target.h"
#include "tests/kernels/random_problem.h"

namespace egc {
namespace {

using kernels::FusedShape;
using kernels::ReferenceInput;
using testing::aggregator_set;
using testing::awkward_graph;
using testing::cast;
using testing::grid_values;
using testing::random_edge_features;
using testing::to_layout;

// Relative to the largest value, or to 1; infinite where one is NaN and the other is not.
template <class T>
double worst(const std::vector<T>& got, const std::vector<double>& want) {
  double scale = 1;
  double difference = 0;
  for (size_t k = 0; k < want.size(); ++k) {
    const auto value = static_cast<double>(got[k]);
    if (std::isnan(value) != std::isnan(want[k])) return INFINITY;
    if (!std::isfinite(value) && value == want[k]) continue;
    if (std::isnan(value)) continue;
    scale = std::max(scale, std::abs(want[k]));
    difference = std::max(difference, std::abs(value - want[k]));
  }
  return difference / scale;
}

template <class T>
constexpr double kTolerance = sizeof(T) == 4 ? 1e-5 : 1e-12;

struct Problem {
  Csr graph;
  FusedShape shape;
  bool relu = false;
  std::vector<double> bases;
  std::vector<double> weights;
  std::vector<double> edges;  // row-major
  std::vector<double> upstream;

  Problem(Csr g, const FusedShape& s, bool with_relu)
      : graph(std::move(g)),
        shape(s),
        relu(with_relu),
        bases(grid_values(graph.num_sources() * columns(), 11)),
        weights(grid_values(graph.num_targets() * s.weights_per_row(), 12)),
        edges(grid_values(num_edge_rows(graph) * columns(), 15)),
        upstream(grid_values(graph.num_targets() * s.out_width(), 14)) {}

  int64_t columns() const { return shape.bases * shape.head_width; }

  ReferenceInput reference(const std::vector<double>& values) const {
    ReferenceInput in{shape, graph.view(), bases.data(), weights.data()};
    const EdgeFeatures& f = graph.edge_features();
    in.edges.table = edges.data();
    in.edges.types = num_edge_types(graph);
    in.edges.type = f.has_types() ? f.type.data() : nullptr;
    in.edges.relu = relu;
    in.edges.columns = f.columns;
    in.edges.values = values.data();
    in.edges.linear = edges.data() + (in.edges.types + 1) * columns();
    return in;
  }
};

template <class T>
struct Results {
  std::vector<T> out, bases, weights, edges;
};

template <class T>
Results<T> run(const Problem& p, int64_t slice_width) {
  const SliceLayout layout{p.shape.bases, p.shape.head_width, slice_width};
  const int64_t sources = p.graph.num_sources();
  const int64_t rows = num_edge_rows(p.graph);
  const std::vector<T> x = to_layout(cast<T>(p.bases), sources, layout);
  const std::vector<T> w = cast<T>(p.weights);
  const std::vector<T> e = to_layout(cast<T>(p.edges), rows, layout);
  const FusedProblem<T> problem{p.graph, p.shape, layout, x.data(), w.data(), {e.data(), p.relu}};
  const T poison = std::numeric_limits<T>::quiet_NaN();  // what is not written shows
  Results<T> r{std::vector<T>(p.upstream.size(), poison), std::vector<T>(x.size(), poison),
               std::vector<T>(w.size(), poison), std::vector<T>(e.size(), poison)};
  fused_forward<T>(problem, nullptr, r.out.data());
  const std::vector<T> g = cast<T>(p.upstream);
  fused_backward(problem, g.data(), r.bases.data(), r.weights.data(), r.edges.data());
  r.bases = to_layout(r.bases, sources, layout, /*back=*/true);
  r.edges = to_layout(r.edges, rows, layout, /*back=*/true);
  return r;
}

template <class T>
void compare(const Problem& p, int64_t slice_width, const std::string& what,
             double tolerance = kTolerance<T>) {
  const auto numbers = p.graph.edge_values<double>();
  const std::vector<double> values(numbers.begin(), numbers.end());
  const ReferenceInput reference = p.reference(values);
  const auto gradients = kernels::reference_backward(reference, p.upstream.data());
  const Results<T> got = run<T>(p, slice_width);
  EXPECT_LE(worst(got.out, kernels::reference_forward(reference)), tolerance) << what << ": output";
  EXPECT_LE(worst(got.bases, gradients.bases), tolerance) << what << ": gradient of the bases";
  EXPECT_LE(worst(got.weights, gradients.weights), tolerance) << what << ": of the weights";
  EXPECT_LE(worst(got.edges, gradients.edges), tolerance) << what << ": of the edges";
}

constexpr SelfLoops kModes[] = {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone};
// Types and numbers of edges; {0, 0} is ReLU alone.
constexpr std::array<std::array<int64_t, 2>, 4> kSchemas = {{{3, 0}, {0, 2}, {2, 1}, {0, 0}}};

class EdgeTermTest : public ::testing::Test {
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

std::string label(const FusedShape& s, unsigned mask, bool relu, const std::string& target) {
  return fmt::format("{} set {} loops={} H={} B={} L={} relu={}", target, mask,
                     name_of(s.self_loops), s.heads, s.bases, s.head_width, relu);
}

template <class T>
void every_set(const std::string& target, bool weighted) {
  for (unsigned mask = 1; mask < 128; ++mask) {
    const auto [types, numbers] = kSchemas[mask % 4];
    const Csr graph = awkward_graph(
        weighted, 1, [&](int64_t edges) { return random_edge_features(edges, types, numbers); });
    for (const SelfLoops mode : kModes) {
      const bool relu = (mask + static_cast<unsigned>(mode)) % 2 == 0;
      const FusedShape shape{aggregator_set(mask), mode, 2, 3, 7};
      compare<T>(Problem(graph, shape, relu), 7, label(shape, mask, relu, target));
    }
  }
}

TEST_F(EdgeTermTest, EverySetOfAggregators) {
  on_every_target([](const std::string& target) {
    every_set<float>(target, false);
    every_set<double>(target, false);
  });
}

TEST_F(EdgeTermTest, EverySetOfAggregatorsWithEdgeWeights) {
  on_every_target([](const std::string& target) {
    every_set<float>(target, true);
    every_set<double>(target, true);
  });
}

TEST_F(EdgeTermTest, EveryColumnTailAndSlices) {
  const Csr graph =
      awkward_graph(false, 1, [](int64_t edges) { return random_edge_features(edges, 4, 1); });
  on_every_target([&](const std::string& target) {
    for (int64_t width = 1; width <= 70; ++width) {
      const FusedShape shape{aggregator_set(width % 2 == 0 ? 0b1101001 : 0b0101100),
                             kModes[width % 3], 1, 1, width};
      compare<float>(Problem(graph, shape, true), width, label(shape, 0, true, target));
    }
    const FusedShape sliced{aggregator_set(127), SelfLoops::kAll, 2, 3, 11};
    compare<float>(Problem(graph, sliced, true), 4, label(sliced, 127, true, target));
    compare<double>(Problem(graph, sliced, false), 4, label(sliced, 127, false, target));
  });
}

// Sources that are no targets, and a graph without edges.
TEST_F(EdgeTermTest, OtherSourcesAndNoEdges) {
  Rng rng(3);
  std::vector<int64_t> source, target;
  for (int k = 0; k < 60; ++k) {
    source.push_back(rng.below(7));
    target.push_back(rng.below(13));
  }
  const EdgeFeatures features = random_edge_features(60, 3, 2);
  const FusedShape shape{aggregator_set(127), SelfLoops::kNone, 2, 2, 5};
  compare<float>(Problem(Csr::from_edges(14, 7, source, target, {}, features), shape, true), 5,
                 "rectangular");
  const FusedShape loops{aggregator_set(127), SelfLoops::kAll, 2, 2, 5};
  compare<float>(Problem(Csr::from_edges(5, {}, {}), loops, true), 5, "loops only");
  compare<float>(Problem(Csr::from_edges(0, {}, {}), loops, true), 5, "no nodes");
}

// Large numbers of edges of one type, hubs on both ends: long sums keep their digits.
TEST_F(EdgeTermTest, LongSums) {
  constexpr int64_t kNodes = 2000;
  constexpr int64_t kEdges = 300'000;
  std::vector<int64_t> source, target;
  Rng rng(4);
  for (int64_t k = 0; k < kEdges; ++k) {
    source.push_back(k % 3 == 0 ? 1 : rng.below(kNodes));
    target.push_back(k % 3 == 1 ? 2 : rng.below(kNodes));
  }
  const EdgeFeatures features = random_edge_features(kEdges, 2, 1);
  Problem p(Csr::from_edges(kNodes, source, target, {}, features),
            {{Aggregator::kAdd, Aggregator::kStd, Aggregator::kMax}, SelfLoops::kNone, 1, 1, 3},
            true);
  Rng values(8);
  for (auto* v : {&p.bases, &p.edges, &p.upstream})
    for (double& x : *v) x = static_cast<float>(0.5 + values.uniform());
  compare<float>(p, 3, "long sums");
}

// NaN and infinities of nodes, of the table and of weights of numbers come through as in the
// reference, which only knows the definition.
TEST_F(EdgeTermTest, HostileValues) {
  const Csr graph =
      awkward_graph(false, 1, [](int64_t edges) { return random_edge_features(edges, 3, 1); });
  on_every_target([&](const std::string& target) {
    for (const double hostile : {std::nan(""), double{INFINITY}, -double{INFINITY}, 1e30})
      for (const SelfLoops mode : kModes)
        for (const bool relu : {false, true})
          for (int where = 0; where < 2; ++where) {
            const FusedShape shape{
                {Aggregator::kAdd, Aggregator::kMax, Aggregator::kMin}, mode, 1, 1, 5};
            Problem p(graph, shape, relu);
            std::fill(p.weights.begin(), p.weights.end(), 1.0);
            (where == 0 ? p.bases : p.edges)[7] = hostile;
            const auto numbers = graph.edge_values<double>();
            const std::vector<double> values(numbers.begin(), numbers.end());
            const auto want = kernels::reference_forward(p.reference(values));
            const Results<double> got = run<double>(p, 5);
            EXPECT_LE(worst(got.out, want), 1e-9) << label(shape, 0, relu, target) << hostile;
          }
  });
}

TEST_F(EdgeTermTest, SameBitsForAnyNumberOfThreads) {
  constexpr int64_t kNodes = 3000;
  std::vector<int64_t> source, target;
  Rng rng(9);
  for (int64_t k = 0; k < 60'000; ++k) {
    source.push_back(rng.below(kNodes));
    target.push_back(rng.below(rng.below(2) == 0 ? 10 : kNodes));  // hubs
  }
  const EdgeFeatures features = random_edge_features(60'000, 5, 2);
  Problem p(Csr::from_edges(kNodes, source, target, {}, features),
            {aggregator_set(127), SelfLoops::kAll, 4, 4, 11}, true);
  Rng values(10);
  for (auto* v : {&p.bases, &p.edges, &p.weights, &p.upstream})
    for (double& x : *v) x = values.uniform() - 0.5;
  ASSERT_GT(p.graph.transposed().row_ranges().size(), 4U);
  const int before = num_threads();
  set_num_threads(1);
  const Results<float> one = run<float>(p, 4);
  const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
      return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
    });
  };
  for (const int threads : {2, 3, 8})
    for (int repeat = 0; repeat < 5; ++repeat) {
      set_num_threads(threads);
      const Results<float> many = run<float>(p, 4);
      EXPECT_TRUE(same(one.out, many.out) && same(one.bases, many.bases) &&
                  same(one.weights, many.weights) && same(one.edges, many.edges))
          << threads << " threads";
    }
  set_num_threads(before);
}

}  // namespace
}  // namespace egc
