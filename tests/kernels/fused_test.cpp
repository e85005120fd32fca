// The fused operator against the scalar reference: every aggregator set, every column tail, every
// instruction set, both precisions, forward and backward.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "egc/core/error.h"
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
using testing::to_layout;

template <class T>
double tolerance() {
  return sizeof(T) == 4 ? 1e-5 : 1e-12;
}

// The largest difference, relative to the largest value (or 1).
template <class T>
double worst(const std::vector<T>& got, const std::vector<double>& want) {
  double scale = 1.0;
  double difference = 0.0;
  for (size_t k = 0; k < want.size(); ++k) {
    scale = std::max(scale, std::abs(want[k]));
    difference = std::max(difference, std::abs(static_cast<double>(got[k]) - want[k]));
    if (std::isnan(static_cast<double>(got[k]))) return INFINITY;
  }
  return difference / scale;
}

template <class T>
void compare(const Csr& graph, const FusedShape& shape, int64_t slice_width,
             const std::string& what, bool with_gradients = true) {
  const int64_t n = graph.num_targets();
  const int64_t sources = graph.num_sources();
  const std::vector<double> bases = grid_values(sources * shape.bases * shape.head_width, 11);
  const std::vector<double> weights = grid_values(n * shape.weights_per_row(), 12);
  const std::vector<double> bias = grid_values(shape.out_width(), 13);
  const ReferenceInput reference{shape, graph.view(), bases.data(), weights.data(), bias.data()};
  const std::vector<double> want = kernels::reference_forward(reference);

  const SliceLayout layout{shape.bases, shape.head_width, slice_width};
  const std::vector<T> x = to_layout(cast<T>(bases), sources, layout);
  const std::vector<T> w = cast<T>(weights);
  const FusedProblem<T> problem{graph, shape, layout, x.data(), w.data()};
  const T poison = std::numeric_limits<T>::quiet_NaN();  // what is not written shows
  std::vector<T> out(want.size(), poison);
  fused_forward(problem, cast<T>(bias).data(), out.data());
  EXPECT_LE(worst(out, want), tolerance<T>()) << what << ": output";
  if (!with_gradients) return;

  const std::vector<double> upstream = grid_values(n * shape.out_width(), 14);
  const kernels::ReferenceGradients want_grad =
      kernels::reference_backward(reference, upstream.data());
  const std::vector<T> g = cast<T>(upstream);
  std::vector<T> grad_bases(x.size(), poison);
  std::vector<T> grad_weights(w.size(), poison);
  fused_backward(problem, g.data(), grad_bases.data(), grad_weights.data());
  EXPECT_LE(worst(to_layout(grad_bases, sources, layout, true), want_grad.bases), tolerance<T>())
      << what << ": gradient of the bases";
  EXPECT_LE(worst(grad_weights, want_grad.weights), tolerance<T>())
      << what << ": gradient of the weights";
}

template <class T>
std::string label(const FusedShape& shape, const std::string& target) {
  std::string sets;
  for (const Aggregator a : shape.aggregators) sets += std::string(name_of(a)) + "+";
  return fmt::format("{} f{} {} loops={} H={} B={} L={}", target, 8 * sizeof(T), sets,
                     name_of(shape.self_loops), shape.heads, shape.bases, shape.head_width);
}

constexpr SelfLoops kModes[] = {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone};

// Runs f(target name) for every instruction set of this machine.
class FusedTest : public ::testing::Test {
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
};

template <class T>
void every_set(const std::string& target, bool weighted) {
  const Csr graph = awkward_graph(weighted);
  for (unsigned mask = 1; mask < 128; ++mask) {
    const SelfLoops mode = kModes[mask % 3];
    for (const auto [heads, bases, width] :
         {std::array<int64_t, 3>{1, 1, 19}, {2, 3, 5}, {5, 2, 9}, {4, 4, 16}}) {
      const FusedShape shape{aggregator_set(mask), mode, heads, bases, width};
      compare<T>(graph, shape, width, label<T>(shape, target));
    }
  }
}

TEST_F(FusedTest, EverySetOfAggregators) {
  on_every_target([](const std::string& target) {
    every_set<float>(target, false);
    every_set<double>(target, false);
  });
}

TEST_F(FusedTest, EverySetOfAggregatorsWithEdgeWeights) {
  on_every_target([](const std::string& target) {
    every_set<float>(target, true);
    every_set<double>(target, true);
  });
}

template <class T>
void every_width(const std::string& target) {
  const Csr graph = awkward_graph();
  constexpr int64_t kMaxLanes = 64 / sizeof(T);
  for (int64_t width = 0; width <= 2 * kMaxLanes + 1; ++width)
    for (const SelfLoops mode : kModes)
      for (const unsigned mask : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 127U, 25U, 14U}) {
        const FusedShape direct{aggregator_set(mask), mode, 1, 1, width};
        compare<T>(graph, direct, width, label<T>(direct, target));
        const FusedShape mixed{aggregator_set(mask), mode, 3, 2, width};
        compare<T>(graph, mixed, width, label<T>(mixed, target));
      }
}

TEST_F(FusedTest, EveryColumnCount) {
  on_every_target([](const std::string& target) {
    every_width<float>(target);
    every_width<double>(target);
  });
}

TEST_F(FusedTest, WideRowsAndSlices) {
  const Csr graph = awkward_graph();
  on_every_target([&](const std::string& target) {
    for (const int64_t slice : {1, 4, 7, 16, 33, 100}) {
      const FusedShape shape{aggregator_set(127), SelfLoops::kSymnorm, 4, 4, 100};
      compare<float>(graph, shape, slice, label<float>(shape, target));
      compare<double>(graph, shape, slice, label<double>(shape, target));
    }
  });
}

// Without weights: each aggregate in columns of its own.
template <class T>
void compare_apart(const Csr& graph, unsigned mask, SelfLoops mode, int64_t width,
                   int64_t slice_width, const std::string& target, bool with_bias = true) {
  const AggregatorSet set = aggregator_set(mask);
  const FusedShape shape{set, mode, set.size(), 1, width};
  const std::string what = label<T>(shape, target) + " apart";
  const int64_t sources = graph.num_sources();
  const std::vector<double> values = grid_values(sources * width, 21);
  const std::vector<double> bias = grid_values(shape.out_width(), 22);
  const ReferenceInput reference{shape, graph.view(), values.data(), nullptr,
                                 with_bias ? bias.data() : nullptr};
  const std::vector<double> want = kernels::reference_forward(reference);

  const SliceLayout layout{1, width, slice_width};
  const std::vector<T> x = to_layout(cast<T>(values), sources, layout);
  const FusedProblem<T> problem{graph, shape, layout, x.data(), nullptr};
  const T poison = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> b = cast<T>(bias);
  std::vector<T> out(want.size(), poison);
  fused_forward(problem, with_bias ? b.data() : nullptr, out.data());
  EXPECT_LE(worst(out, want), tolerance<T>()) << what << ": output";

  const std::vector<double> upstream = grid_values(graph.num_targets() * shape.out_width(), 24);
  const std::vector<double> want_grad =
      kernels::reference_backward(reference, upstream.data()).bases;
  const std::vector<T> g = cast<T>(upstream);
  std::vector<T> grad(x.size(), poison);
  fused_backward(problem, g.data(), grad.data(), static_cast<T*>(nullptr));
  EXPECT_LE(worst(to_layout(grad, sources, layout, true), want_grad), tolerance<T>())
      << what << ": gradient";
}

TEST_F(FusedTest, EverySetApart) {
  const Csr plain = awkward_graph();
  const Csr weighted = awkward_graph(true);
  on_every_target([&](const std::string& target) {
    for (unsigned mask = 1; mask < 128; ++mask)
      for (const SelfLoops mode : kModes)
        for (const Csr* graph : {&plain, &weighted}) {
          compare_apart<float>(*graph, mask, mode, 19, 19, target);
          compare_apart<double>(*graph, mask, mode, 19, 19, target);
        }
  });
}

TEST_F(FusedTest, EveryColumnCountApart) {
  const Csr graph = awkward_graph();
  on_every_target([&](const std::string& target) {
    for (int64_t width = 0; width <= 33; ++width)
      for (const SelfLoops mode : kModes)
        for (const unsigned mask : {1U, 2U, 4U, 8U, 64U, 127U, 25U}) {
          compare_apart<float>(graph, mask, mode, width, width, target, width % 2 == 0);
          compare_apart<double>(graph, mask, mode, width, width, target, width % 2 == 0);
        }
    for (const int64_t slice : {4, 7, 16, 33})
      compare_apart<float>(graph, 127, SelfLoops::kAll, 100, slice, target);
    compare_apart<float>(graph, 127, SelfLoops::kAll, 300, 300, target);
  });
}

TEST_F(FusedTest, BlocksOfSourcesApart) {
  const Csr few = testing::dense_graph(60);
  ASSERT_GT(few.source_blocks().count, 2);
  on_every_target([&](const std::string& target) {
    for (const unsigned mask : {1U, 2U, 4U, 8U, 16U, 31U})
      compare_apart<float>(few, mask, SelfLoops::kNone, 68, kBlockedColumns, target);
  });
}

// A part of the rows is written, and the epilogue follows; the rest stays as it was.
TEST_F(FusedTest, RowsAndEpilogueApart) {
  const Csr graph = awkward_graph();
  const int64_t n = graph.num_targets();
  for (const unsigned mask : {2U, 4U, 27U, 64U}) {
    const AggregatorSet set = aggregator_set(mask);
    const FusedShape shape{set, SelfLoops::kAll, set.size(), 1, 21};
    const int64_t width = shape.out_width();
    const std::vector<float> x = cast<float>(grid_values(n * 21, 1));
    const std::vector<float> bias = cast<float>(grid_values(width, 2));
    const std::vector<float> scale = cast<float>(grid_values(width, 3));
    const std::vector<float> residual = cast<float>(grid_values(n * width, 4));
    for (const int64_t slice : {21, 8}) {
      const SliceLayout layout{1, 21, slice};
      const std::vector<float> sliced = to_layout(x, n, layout);
      const FusedProblem<float> problem{graph, shape, layout, sliced.data(), nullptr};
      std::vector<float> plain(n * width);
      fused_forward(problem, bias.data(), plain.data());
      Epilogue<float> epilogue;
      epilogue.op.scale = scale.data();
      epilogue.op.shift = bias.data();
      epilogue.op.relu = true;
      epilogue.residual = residual.data();
      std::vector<float> out(n * width, -1000.0F);
      fused_forward(problem, bias.data(), out.data(), epilogue, {2, 9});
      for (int64_t k = 0; k < n * width; ++k) {
        const float y = plain[k] * scale[k % width] + bias[k % width];
        const bool written = k >= 2 * width && k < 9 * width;
        EXPECT_NEAR(out[k], written ? std::max(y, 0.0F) + residual[k] : -1000.0F, 1e-4);
      }
    }
  }
}

TEST_F(FusedTest, WithoutWeightsTheShapeMustFit) {
  const Csr graph = awkward_graph();
  std::vector<float> x(14 * 8), y(14 * 8);
  for (const FusedShape& shape :
       {FusedShape{{Aggregator::kAdd}, SelfLoops::kAll, 2, 1, 4},
        FusedShape{{Aggregator::kAdd, Aggregator::kMax}, SelfLoops::kAll, 2, 2, 4}}) {
    const FusedProblem<float> problem{graph, shape, SliceLayout::row_major(shape.bases, 4),
                                      x.data(), nullptr};
    EXPECT_THROW(fused_forward<float>(problem, nullptr, y.data()), Error);
    EXPECT_THROW(fused_backward<float>(problem, y.data(), x.data(), nullptr), Error);
  }
}

// The walk in blocks is of the forward pass.
TEST_F(FusedTest, DenseGraphsInBlocksOfSources) {
  const Csr few = testing::dense_graph(60);
  ASSERT_GT(few.source_blocks().count, 2);
  on_every_target([&](const std::string& target) {
    for (unsigned mask = 1; mask < 128; mask += mask < 31 ? 1 : 24) {
      const int64_t bases = mask % 2 == 0 ? 1 : 4;
      const FusedShape shape{aggregator_set(mask), SelfLoops::kNone, 3, bases, 68 / bases};
      compare<float>(few, shape, kBlockedColumns / bases, label<float>(shape, target), false);
    }
  });
  // Loops need a square graph, and rows of several tasks.
  const Csr square = testing::dense_graph(5000);
  ASSERT_GT(square.source_blocks().count, 2);
  for (const SelfLoops mode : {SelfLoops::kAll, SelfLoops::kSymnorm}) {
    const FusedShape shape{aggregator_set(28), mode, 1, 1, kBlockedColumns};
    compare<float>(square, shape, kBlockedColumns, label<float>(shape, "square"), false);
  }
}

TEST_F(FusedTest, RectangularGraph) {
  const Csr graph = Csr::from_edges(3, 5, std::vector<int64_t>{0, 4, 4, 2, 1},
                                    std::vector<int64_t>{0, 0, 2, 2, 2});
  for (unsigned mask = 1; mask < 128; ++mask) {
    const FusedShape shape{aggregator_set(mask), SelfLoops::kNone, 2, 2, 6};
    compare<double>(graph, shape, 6, label<double>(shape, "rectangular"));
    compare_apart<float>(graph, mask, SelfLoops::kNone, 6, 6, "rectangular");
  }
  const FusedShape loops{{Aggregator::kAdd}, SelfLoops::kAll, 1, 1, 4};
  std::vector<float> x(20), w(3), y(12);
  const FusedProblem<float> problem{graph, loops, SliceLayout::row_major(1, 4), x.data(), w.data()};
  EXPECT_THROW(fused_forward<float>(problem, nullptr, y.data()), Error);
}

TEST_F(FusedTest, NoNodesNoEdges) {
  for (const SelfLoops mode : kModes)
    for (unsigned mask = 1; mask < 128; ++mask) {
      const FusedShape shape{aggregator_set(mask), mode, 2, 2, 5};
      compare<float>(Csr::from_edges(0, {}, {}), shape, 5, label<float>(shape, "no nodes"));
      compare<float>(Csr::from_edges(4, {}, {}), shape, 5, label<float>(shape, "no edges"));
      compare_apart<float>(Csr::from_edges(0, {}, {}), mask, mode, 5, 5, "no nodes");
      compare_apart<float>(Csr::from_edges(4, {}, {}), mask, mode, 5, 5, "no edges");
    }
}

// Features 1000 +- 0.1 in float32: E[x^2] - E[x]^2 would be garbage.
TEST_F(FusedTest, VarianceWithoutCancellation) {
  constexpr int64_t kNodes = 200;
  Rng rng(3);
  std::vector<double> x(kNodes);
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  for (int64_t j = 0; j < kNodes; ++j) {
    x[j] = static_cast<float>(1000.0 + 0.1 * (2.0 * rng.uniform() - 1.0));
    source.push_back(j);
    target.push_back(0);
  }
  const Csr graph = Csr::from_edges(kNodes, source, target);
  const std::vector<double> ones(kNodes, 1.0);
  const FusedShape shape{{Aggregator::kVar}, SelfLoops::kNone, 1, 1, 1};
  const double want =
      kernels::reference_forward({shape, graph.view(), x.data(), ones.data(), nullptr})[0];
  ASSERT_NEAR(want, 0.1 * 0.1 / 3.0, 1e-3);
  on_every_target([&](const std::string& target_name) {
    const std::vector<float> xf = cast<float>(x);
    const std::vector<float> wf = cast<float>(ones);
    std::vector<float> out(kNodes);
    const FusedProblem<float> p{graph, shape, SliceLayout::row_major(1, 1), xf.data(), wf.data()};
    fused_forward<float>(p, nullptr, out.data());
    EXPECT_NEAR(out[0], want, 0.01 * want) << target_name;
  });
}

// Streaming stores and prefetching set in with size only, so one large case with alignment.
TEST_F(FusedTest, LargeAlignedOutput) {
  constexpr int64_t kNodes = 70'000;
  constexpr int64_t kWidth = 128;
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  Rng rng(5);
  for (int64_t i = 0; i < kNodes; ++i)
    for (uint32_t k = 0; k < i % 3; ++k) {
      source.push_back(rng.below(kNodes));
      target.push_back(i);
    }
  const Csr graph = Csr::from_edges(kNodes, source, target);
  const FusedShape shape{
      {Aggregator::kAdd, Aggregator::kMax, Aggregator::kStd}, SelfLoops::kNone, 1, 1, kWidth};
  const std::vector<double> x = grid_values(kNodes * kWidth, 1);
  const std::vector<double> w = grid_values(kNodes * 3, 2);
  const std::vector<double> want =
      kernels::reference_forward({shape, graph.view(), x.data(), w.data(), nullptr});
  const std::vector<float> xf = cast<float>(x);
  const std::vector<float> wf = cast<float>(w);
  std::vector<float> storage(kNodes * kWidth + 16);
  float* out = storage.data();
  while (reinterpret_cast<uintptr_t>(out) % 64 != 0) ++out;
  for (const int64_t slice : {kWidth, kWidth / 2}) {
    const SliceLayout layout{1, kWidth, slice};
    const std::vector<float> sliced = to_layout(xf, kNodes, layout);
    const FusedProblem<float> p{graph, shape, layout, sliced.data(), wf.data()};
    fused_forward<float>(p, nullptr, out);
    EXPECT_LE(worst(std::vector<float>(out, out + kNodes * kWidth), want), 1e-5);
  }
}

TEST_F(FusedTest, LargeAlignedOutputApart) {
  constexpr int64_t kNodes = 70'000;
  constexpr int64_t kWidth = 64;
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  Rng rng(6);
  for (int64_t i = 0; i < kNodes; ++i)
    for (uint32_t k = 0; k < i % 3; ++k) {
      source.push_back(rng.below(kNodes));
      target.push_back(i);
    }
  const Csr graph = Csr::from_edges(kNodes, source, target);
  const FusedShape shape{
      {Aggregator::kMean, Aggregator::kMax, Aggregator::kAdd}, SelfLoops::kNone, 3, 1, kWidth};
  const std::vector<double> x = grid_values(kNodes * kWidth, 1);
  const std::vector<double> want =
      kernels::reference_forward({shape, graph.view(), x.data(), nullptr, nullptr});
  const std::vector<float> xf = cast<float>(x);
  std::vector<float> storage(want.size() + 16);
  float* out = storage.data();
  while (reinterpret_cast<uintptr_t>(out) % 64 != 0) ++out;
  for (const int64_t slice : {kWidth, kWidth / 2}) {
    const SliceLayout layout{1, kWidth, slice};
    const std::vector<float> sliced = to_layout(xf, kNodes, layout);
    const FusedProblem<float> p{graph, shape, layout, sliced.data(), nullptr};
    fused_forward<float>(p, nullptr, out);
    EXPECT_LE(worst(std::vector<float>(out, out + want.size()), want), 1e-5);
  }
}

// 20 runs each with 1, 2, 3, 4 and 8 threads, forward and backward.
void expect_same_bits(const Csr& graph, const FusedShape& shape, const SliceLayout& layout,
                      bool with_weights = true) {
  const int before = num_threads();
  Rng values(10);
  const auto random = [&](int64_t n) {
    std::vector<float> v(n);
    for (float& f : v) f = values.uniform() - 0.5F;
    return v;
  };
  const std::vector<float> x = random(graph.num_sources() * layout.columns());
  const std::vector<float> w =
      random(with_weights ? graph.num_targets() * shape.weights_per_row() : 0);
  const std::vector<float> g = random(graph.num_targets() * shape.out_width());
  const FusedProblem<float> p{graph, shape, layout, x.data(), with_weights ? w.data() : nullptr};
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 4, 8})
    for (int run = 0; run < 20; ++run) {
      set_num_threads(threads);
      std::vector<float> all(g.size() + x.size() + w.size());
      fused_forward<float>(p, nullptr, all.data());
      float* const grad_weights = all.data() + g.size() + x.size();
      fused_backward<float>(p, g.data(), all.data() + g.size(),
                            with_weights ? grad_weights : nullptr);
      if (first.empty()) first = all;
      ASSERT_TRUE(std::equal(first.begin(), first.end(), all.begin(),
                             [](float a, float b) {
                               return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
                             }))
          << threads << " threads";
    }
  set_num_threads(before);
}

TEST_F(FusedTest, SameBitsForAnyNumberOfThreads) {
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  Rng rng(9);
  constexpr int64_t kNodes = 3000;
  for (int64_t k = 0; k < 120'000; ++k) {
    source.push_back(rng.below(kNodes));
    target.push_back(rng.below(rng.below(2) == 0 ? 10 : kNodes));  // hubs
  }
  const Csr graph = Csr::from_edges(kNodes, source, target);
  ASSERT_GT(graph.row_ranges().size(), 4U);
  expect_same_bits(graph, {aggregator_set(127), SelfLoops::kAll, 4, 4, 11}, {4, 11, 4});
  expect_same_bits(graph, {aggregator_set(127), SelfLoops::kAll, 7, 1, 11}, {1, 11, 4}, false);
  expect_same_bits(testing::dense_graph(2500), {aggregator_set(31), SelfLoops::kNone, 1, 1, 64},
                   {1, 64, kBlockedColumns});
}

}  // namespace
}  // namespace egc
