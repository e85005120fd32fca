// EgcConv: gradients against finite differences, against the operators it is made of, slices,
// threads, errors.
#include "egc/nn/egc_conv.h"

#include <gtest/gtest.h>

#include <cmath>

#include "egc/engine/slice_layout.h"
#include "egc/graph/topologies.h"
#include "egc/ops/linear.h"
#include "egc/ops/norm_act.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/kernels/random_problem.h"
#include "tests/tensor/gradcheck.h"

namespace egc {
namespace {

using nn::EgcConv;
using nn::EgcConvOptions;
using nn::WeightActivation;
using testing::aggregator_set;
using testing::awkward_graph;
using testing::close;
using testing::expect_error;
using testing::random_tensor;
using testing::same_bits;

constexpr SelfLoops kModes[] = {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone};
constexpr WeightActivation kActivations[] = {WeightActivation::kIdentity,
                                             WeightActivation::kSoftmax, WeightActivation::kSigmoid,
                                             WeightActivation::kHardtanh};

// With values everywhere, biases too.
void fill(EgcConv& conv, double scale = 1) {
  uint64_t seed = 100;
  for (const nn::ParameterPtr& p : conv.parameters()) {
    const Tensor values = random_tensor(p->value.rows(), p->value.columns(), seed++);
    for (int64_t k = 0; k < values.size(); ++k) values.data<double>()[k] *= scale;
    p->value.copy_from(values);
  }
}

Tensor infer(EgcConv& conv, const Tensor& x, const Csr& graph) {
  Tape tape = Tape::inference();
  return conv.forward(tape, x, graph);
}

// The output and the gradients of x and of every parameter.
std::vector<Tensor> run(EgcConv& conv, const Tensor& x, const Csr& graph, const Tensor& upstream) {
  Tape tape = Tape::training(0);
  const Tensor input = x.with_gradient();
  const Tensor y = conv.forward(tape, input, graph);
  tape.backward(y, upstream);
  std::vector<Tensor> all = {y.detached(), input.gradient()->take()};
  for (const nn::ParameterPtr& p : conv.parameters()) all.push_back(p->value.gradient()->take());
  return all;
}

class GradcheckTest
    : public ::testing::TestWithParam<std::tuple<int, SelfLoops, WeightActivation>> {};

TEST_P(GradcheckTest, EveryParameter) {
  const auto [aggregator, mode, activation] = GetParam();
  EgcConvOptions o(3, 4);
  o.heads = 2;
  o.bases = 2;
  // One aggregator alone, or (the last case) all together.
  o.aggregators = aggregator_set(aggregator == kNumAggregators ? 127U : 1U << aggregator);
  o.self_loops = mode;
  o.activation = activation;
  EgcConv conv(o);
  conv.to(DType::kF64);
  fill(conv, 0.5);
  for (const bool weighted : {false, true}) {
    const Csr graph = awkward_graph(weighted);
    const Tensor x = random_tensor(graph.num_targets(), 3, 7).with_gradient();
    std::vector<testing::NamedTensor> inputs = {{"x", x}};
    for (const auto& [name, p] : conv.named_parameters()) inputs.push_back({name, p->value});
    testing::expect_gradients(
        inputs, [] { return Tape::training(0); },
        [&](Tape& tape) { return conv.forward(tape, x, graph); });
  }
}

INSTANTIATE_TEST_SUITE_P(Everything, GradcheckTest,
                         ::testing::Combine(::testing::Range(0, kNumAggregators + 1),
                                            ::testing::ValuesIn(kModes),
                                            ::testing::ValuesIn(kActivations)));

// The layer as a Linear for the bases, one for the weights, and the aggregation of both, all
// row-major: the other way to compute everything.
std::vector<Tensor> run_parts(const EgcConv& conv, const Tensor& x, const Csr& graph,
                              const Tensor& upstream) {
  const EgcConvOptions& o = conv.options;
  Tape tape = Tape::training(0);
  const Tensor input = x.with_gradient();
  const Tensor bases = ops::linear(tape, input, conv.bases_weight->value, {});
  const Tensor weights = ops::linear(tape, input, conv.comb_weight->value, conv.comb_bias->value);
  const Tensor y = ops::egc_aggregate(tape, {o.aggregators, o.self_loops, o.heads, o.bases}, bases,
                                      weights, conv.bias ? conv.bias->value : Tensor(), graph);
  tape.backward(y, upstream);
  std::vector<Tensor> all = {y.detached(), input.gradient()->take()};
  for (const nn::ParameterPtr& p : conv.parameters()) all.push_back(p->value.gradient()->take());
  return all;
}

TEST(EgcConv, AgreesWithItsParts) {
  for (unsigned mask = 1; mask < 128; ++mask) {
    EgcConvOptions o(5, 14);
    o.heads = 2;
    o.bases = 3;
    o.aggregators = aggregator_set(mask);
    o.self_loops = kModes[mask % 3];
    o.bias = mask % 5 != 0;
    EgcConv conv(o);
    conv.to(DType::kF64);
    fill(conv);
    const Csr graph = awkward_graph(mask % 2 == 0);
    const Tensor x = random_tensor(14, 5, mask);
    const Tensor r = random_tensor(14, 14, mask + 1);
    const std::vector<Tensor> got = run(conv, x, graph, r);
    const std::vector<Tensor> want = run_parts(conv, x, graph, r);
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < got.size(); ++k)
      EXPECT_TRUE(close(got[k], want[k], 1e-10)) << mask << " tensor " << k;
    EXPECT_TRUE(close(infer(conv, x, graph), want[0], 1e-10)) << mask;
  }
}

// Graphs so large that the bases are cut: into slices, and into slices that are walked in blocks.
TEST(EgcConv, SlicesAndBlocksGiveTheSameNumbers) {
  struct Large {
    Csr graph;
    DType type;
    int64_t out;
    double tolerance;
  };
  const Large cases[] = {{make_topology("arxiv-like", 0, 0.02), DType::kF64, 164, 1e-10},
                         {make_topology("arxiv-like", 0, 0.02), DType::kF32, 340, 2e-5},
                         {testing::dense_graph(5000), DType::kF32, 224, 2e-5}};
  for (const Large& c : cases)
    for (const unsigned mask : {4U, 1U | 2U | 8U | 16U}) {
      EgcConvOptions o(6, c.out);
      o.heads = o.bases = 4;
      o.aggregators = aggregator_set(mask);
      EgcConv conv(o);
      conv.to(c.type);
      fill(conv, 0.5);
      const SliceLayout layout =
          choose_slices(c.graph, 4, c.out / 4, static_cast<int64_t>(size_of(c.type)));
      ASSERT_GT(layout.num_slices(), 1);
      const int64_t nodes = c.graph.num_targets();
      const Tensor x = random_tensor(nodes, 6, 1, c.type);
      const Tensor r = random_tensor(nodes, c.out, 2, c.type);
      const std::vector<Tensor> got = run(conv, x, c.graph, r);
      const std::vector<Tensor> want = run_parts(conv, x, c.graph, r);
      for (size_t k = 0; k < got.size(); ++k)
        EXPECT_TRUE(close(got[k], want[k], c.tolerance))
            << c.out << " mask " << mask << " tensor " << k;
      // An epilogue is applied slice by slice.
      const ops::EpilogueTensors epilogue{random_tensor(1, c.out, 3, c.type),
                                          random_tensor(1, c.out, 4, c.type), /*relu=*/true,
                                          random_tensor(nodes, c.out, 5, c.type)};
      Tape tape = Tape::inference();
      EXPECT_TRUE(close(conv.forward(tape, x, c.graph, epilogue),
                        ops::apply_epilogue(want[0], epilogue), c.tolerance));
    }
}

TEST(EgcConv, SameBitsForAnyNumberOfThreads) {
  const Csr graph = make_topology("arxiv-like", 0, 0.02);
  for (const unsigned mask : {4U, 127U}) {
    EgcConvOptions o(32, 136);
    o.heads = o.bases = 4;
    o.aggregators = aggregator_set(mask);
    EgcConv conv(o);
    fill(conv);
    const Tensor x = random_tensor(graph.num_targets(), 32, 1, DType::kF32);
    const Tensor r = random_tensor(graph.num_targets(), 136, 2, DType::kF32);
    std::vector<Tensor> first;
    for (const int threads : {1, 2, 3, 4, 8})
      for (int repeat = 0; repeat < 20; ++repeat) {
        const testing::ThreadCount count(threads);
        const std::vector<Tensor> all = run(conv, x, graph, r);
        if (first.empty()) first = all;
        for (size_t k = 0; k < all.size(); ++k)
          ASSERT_TRUE(same_bits(all[k], first[k])) << threads << " threads, tensor " << k;
      }
  }
}

TEST(EgcConv, CombinationAndTermNormsAreThoseOfTheSum) {
  const Csr graph = awkward_graph();
  for (const WeightActivation activation : kActivations) {
    EgcConvOptions o(5, 6);
    o.heads = 2;
    o.bases = 3;
    o.aggregators = {Aggregator::kMax, Aggregator::kSymnorm};
    o.activation = activation;
    EgcConv conv(o);
    conv.to(DType::kF64);
    fill(conv);
    const Tensor x = random_tensor(14, 5, 1);
    const Tensor w = conv.combination(x);
    const Tensor norms = conv.term_norms(x, graph);
    // The layer again from w, through the operator that takes finished weights.
    Tape tape = Tape::inference();
    const Tensor bases = ops::linear(tape, x, conv.bases_weight->value, {});
    const auto sum_of = [&](const Tensor& weights, const Tensor& bias) {
      return ops::egc_aggregate(tape, {o.aggregators, o.self_loops, 2, 3}, bases, weights, bias,
                                graph);
    };
    EXPECT_TRUE(close(infer(conv, x, graph), sum_of(w, conv.bias->value), 1e-12));
    // And one term after the other.
    for (int64_t term = 0; term < w.columns(); ++term) {
      const Tensor alone = Tensor::zeros(w.rows(), w.columns(), DType::kF64);
      for (int64_t i = 0; i < w.rows(); ++i)
        alone.data<double>()[i * w.columns() + term] = w.item(i, term);
      const Tensor y = sum_of(alone, {});
      for (int64_t i = 0; i < w.rows(); ++i) {
        double squares = 0;
        for (int64_t c = 0; c < y.columns(); ++c) squares += y.item(i, c) * y.item(i, c);
        EXPECT_NEAR(norms.item(i, term), std::sqrt(squares), 1e-12) << i << ", " << term;
      }
    }
  }
}

TEST(EgcConv, ParametersHaveTheNamesOfPyTorchGeometric) {
  const EgcConv conv(
      EgcConvOptions::egc_m(128, 136, {Aggregator::kSymnorm, Aggregator::kMax, Aggregator::kMean}));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, p] : conv.named_parameters()) shapes[name] = p->shape;
  EXPECT_EQ(shapes, (std::map<std::string, std::vector<int64_t>>{{"bases_lin.weight", {136, 128}},
                                                                 {"comb_lin.weight", {48, 128}},
                                                                 {"comb_lin.bias", {48}},
                                                                 {"bias", {136}}}));
}

TEST(EgcConv, Initialisation) {
  EgcConv conv(EgcConvOptions::egc_s(100, 200));
  Rng rng(3);
  conv.reset_parameters(rng);
  const auto largest = [](const nn::ParameterPtr& p) {
    double most = 0;
    for (const double v : testing::values_of(p->value)) most = std::max(most, std::abs(v));
    return most;
  };
  const double glorot = std::sqrt(6.0 / (100 + 100));
  EXPECT_LE(largest(conv.bases_weight), glorot);
  EXPECT_GE(largest(conv.bases_weight), 0.9 * glorot);
  EXPECT_LE(largest(conv.comb_weight), 0.1);
  EXPECT_GE(largest(conv.comb_weight), 0.09);
  EXPECT_LE(largest(conv.comb_bias), 0.1);
  EXPECT_EQ(largest(conv.bias), 0.0);
}

TEST(EgcConv, BadInputIsNamed) {
  const auto refuses = [](std::initializer_list<std::string> parts, const auto& f) {
    expect_error(ErrorKind::kUsage, parts, f);
  };
  refuses({"divisible by heads", "10", "8"}, [] { EgcConv(EgcConvOptions(4, 10)); });
  refuses({"in_channels", "0"}, [] { EgcConv(EgcConvOptions(0, 8)); });
  refuses({"mx", "add", "std"}, [] { parse_aggregator("mx"); });
  refuses({"relu", "softmax", "hardtanh"}, [] { nn::parse_weight_activation("relu"); });
  EgcConv conv(EgcConvOptions(4, 8));
  fill(conv);
  const Csr graph = awkward_graph();
  const auto x = [](int64_t rows, int64_t columns, DType type = DType::kF32) {
    return Tensor::full(rows, columns, type, 1.0);
  };
  refuses({"EgcConv: x must be [14, 4], got [14, 5] float32"},
          [&] { infer(conv, x(14, 5), graph); });
  refuses({"EgcConv: x must be [14, 4], got [13, 4] float32"},
          [&] { infer(conv, x(13, 4), graph); });
  refuses({"egc: ", "float32", "float64"}, [&] { infer(conv, x(14, 4, DType::kF64), graph); });
  refuses({"targets must be its sources", "3"}, [&] {
    infer(conv, x(14, 4), Csr::from_edges(14, 3, std::vector<int64_t>{0}, std::vector<int64_t>{0}));
  });
}

}  // namespace
}  // namespace egc
