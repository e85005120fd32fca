// EgcConv: gradients against finite differences, against the composed operator, errors, threads.
#include "egc/nn/egc_conv.h"

#include <gtest/gtest.h>
#include <torch/nn/init.h>

#include <cmath>

#include "egc/core/parallel.h"
#include "egc/engine/slice_layout.h"
#include "egc/graph/topologies.h"
#include "egc/ops/composed.h"
#include "egc/ops/fused_aggregate.h"
#include "egc/ops/linear_pair.h"
#include "tests/kernels/random_problem.h"
#include "tests/ops/tensors.h"

namespace egc {
namespace {

using nn::EgcConv;
using nn::EgcConvOptions;
using nn::WeightActivation;
using testing::aggregator_set;
using testing::awkward_graph;
using testing::numeric_gradient;
using testing::relative_difference;

constexpr SelfLoops kModes[] = {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone};
constexpr WeightActivation kActivations[] = {WeightActivation::kIdentity,
                                             WeightActivation::kSoftmax, WeightActivation::kSigmoid,
                                             WeightActivation::kHardtanh};

void expect_message(const std::function<void()>& f, const std::vector<std::string>& parts) {
  try {
    f();
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "\"" << e.what() << "\" does not say \"" << part << "\"";
  }
}

class GradcheckTest
    : public ::testing::TestWithParam<std::tuple<int, SelfLoops, WeightActivation>> {};

TEST_P(GradcheckTest, EveryParameter) {
  const auto [aggregator, mode, activation] = GetParam();
  torch::manual_seed(0);
  EgcConvOptions o(3, 4);
  o.heads = 2;
  o.bases = 2;
  // One aggregator alone, or (the last case) all together.
  o.aggregators = aggregator_set(aggregator == kNumAggregators ? 127U : 1U << aggregator);
  o.self_loops = mode;
  o.activation = activation;
  EgcConv conv(o);
  conv->to(at::kDouble);
  for (const bool weighted : {false, true}) {
    const Csr graph = awkward_graph(weighted);
    at::Tensor x = at::randn({graph.num_targets(), 3}, at::kDouble);
    // Node 3 has in-edges of one source only: its variance is 0, where std bends sharply. A step
    // well below the bend keeps the finite difference honest.
    const at::Tensor r = at::randn({graph.num_targets(), 4}, at::kDouble);
    const auto run = [&] { return conv->forward(x, graph); };
    x.requires_grad_();
    conv->zero_grad();
    (run() * r).sum().backward();
    EXPECT_LE(relative_difference(x.grad(), numeric_gradient(run, x, r)), 1e-5);
    for (const auto& p : conv->named_parameters())
      EXPECT_LE(relative_difference(p.value().grad(), numeric_gradient(run, p.value(), r)), 1e-5)
          << p.key();
  }
}

INSTANTIATE_TEST_SUITE_P(Everything, GradcheckTest,
                         ::testing::Combine(::testing::Range(0, kNumAggregators + 1),
                                            ::testing::ValuesIn(kModes),
                                            ::testing::ValuesIn(kActivations)));

TEST(EgcConv, AgreesWithTheComposedOperator) {
  for (unsigned mask = 1; mask < 128; ++mask) {
    const SelfLoops mode = kModes[mask % 3];
    const Csr graph = awkward_graph(mask % 2 == 0);
    const kernels::FusedShape shape{aggregator_set(mask), mode, 2, 3, 7};
    const SliceLayout layout = SliceLayout::row_major(3, 7);
    const auto n = graph.num_targets();
    std::vector<at::Tensor> in = {at::randn({n, 21}, at::kDouble),
                                  at::randn({n, shape.weights_per_row()}, at::kDouble),
                                  at::randn({14}, at::kDouble)};
    const at::Tensor r = at::randn({n, 14}, at::kDouble);
    std::vector<at::Tensor> grads[2];
    at::Tensor out[2];
    for (const bool composed : {false, true}) {
      for (at::Tensor& t : in) t = t.detach().clone().requires_grad_();
      out[composed] = composed ? ops::composed_aggregate(graph, shape, in[0], in[1], in[2])
                               : ops::fused_aggregate(graph, shape, layout, in[0], in[1], in[2]);
      (out[composed] * r).sum().backward();
      for (const at::Tensor& t : in) grads[composed].push_back(t.grad());
    }
    EXPECT_LE(relative_difference(out[0], out[1]), 1e-10) << mask;
    for (int k = 0; k < 3; ++k)
      EXPECT_LE(relative_difference(grads[0][k], grads[1][k]), 1e-9) << mask << " input " << k;
  }
}

TEST(EgcConv, SameBitsForAnyNumberOfThreads) {
  const int before = num_threads();
  const Csr graph = make_topology("arxiv-like", 0, 0.02);
  torch::manual_seed(1);
  for (const unsigned mask : {4U, 127U}) {
    EgcConvOptions o(32, 136);
    o.heads = o.bases = 4;
    o.aggregators = aggregator_set(mask);
    EgcConv conv(o);
    const at::Tensor input = at::randn({graph.num_targets(), 32});
    const at::Tensor r = at::randn({graph.num_targets(), 136});
    std::vector<at::Tensor> first;
    for (const int threads : {1, 2, 3, 4, 8})
      for (int run = 0; run < 20; ++run) {
        set_num_threads(threads);
        const at::Tensor x = input.clone().requires_grad_();
        conv->zero_grad();
        const at::Tensor y = conv->forward(x, graph);
        y.backward(r);
        std::vector<at::Tensor> all = {y.detach().clone(), x.grad()};
        for (const at::Tensor& p : conv->parameters()) all.push_back(p.grad().clone());
        if (first.empty()) first = all;
        for (size_t k = 0; k < all.size(); ++k)
          ASSERT_TRUE(at::equal(all[k], first[k])) << threads << " threads, tensor " << k;
      }
  }
  set_num_threads(before);
}

TEST(EgcConv, SlicedLayoutGivesTheSameNumbers) {
  const Csr graph = awkward_graph();
  const kernels::FusedShape shape{aggregator_set(127), SelfLoops::kAll, 2, 2, 9};
  const at::Tensor x = at::randn({14, 5}, at::kDouble);
  const at::Tensor theta = at::randn({18, 5}, at::kDouble);
  const at::Tensor phi = at::randn({28, 5}, at::kDouble);
  const at::Tensor r = at::randn({14, 18}, at::kDouble);
  std::vector<at::Tensor> first;
  for (const int64_t slice : {9, 1, 2, 4, 8}) {
    const SliceLayout layout{2, 9, slice};
    std::vector<at::Tensor> in = {x.clone(), theta.clone(), phi.clone()};
    for (at::Tensor& t : in) t.requires_grad_();
    const auto [bases, w] = ops::linear_pair(in[0], in[1], in[2], at::Tensor(), layout);
    const at::Tensor y = ops::fused_aggregate(graph, shape, layout, bases, w, c10::nullopt);
    y.backward(r);
    std::vector<at::Tensor> all = {y.detach()};
    for (const at::Tensor& t : in) all.push_back(t.grad());
    if (first.empty()) first = all;
    for (size_t k = 0; k < all.size(); ++k)
      EXPECT_LE(relative_difference(all[k], first[k]), 1e-12) << "slice " << slice << " " << k;
  }
}

TEST(EgcConv, ParametersHaveTheNamesOfPyTorchGeometric) {
  const EgcConv conv(
      EgcConvOptions::egc_m(128, 136, {Aggregator::kSymnorm, Aggregator::kMax, Aggregator::kMean}));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& p : conv->named_parameters()) shapes[p.key()] = p.value().sizes().vec();
  EXPECT_EQ(shapes, (std::map<std::string, std::vector<int64_t>>{{"bases_lin.weight", {136, 128}},
                                                                 {"comb_lin.weight", {48, 128}},
                                                                 {"comb_lin.bias", {48}},
                                                                 {"bias", {136}}}));
}

TEST(EgcConv, Initialisation) {
  torch::manual_seed(3);
  const EgcConv conv(EgcConvOptions::egc_s(100, 200));
  const double glorot = std::sqrt(6.0 / (100 + 100));
  EXPECT_LE(conv->bases_weight.abs().max().item<double>(), glorot);
  EXPECT_GE(conv->bases_weight.abs().max().item<double>(), 0.9 * glorot);
  EXPECT_LE(conv->comb_weight.abs().max().item<double>(), 0.1);
  EXPECT_GE(conv->comb_weight.abs().max().item<double>(), 0.09);
  EXPECT_LE(conv->comb_bias.abs().max().item<double>(), 0.1);
  EXPECT_EQ(conv->bias.abs().max().item<double>(), 0.0);
}

TEST(EgcConv, CloneIsIndependent) {
  EgcConv conv(EgcConvOptions::egc_s(4, 8));
  const auto copy = std::dynamic_pointer_cast<nn::EgcConvImpl>(conv->clone());
  at::NoGradGuard no_grad;
  conv->bases_weight.fill_(7.0);
  EXPECT_NE(copy->bases_weight[0][0].item<float>(), 7.0F);
  const Csr graph = awkward_graph();
  EXPECT_EQ(copy->forward(at::ones({14, 4}), graph).size(1), 8);
}

// The meta device has shapes but no memory: kernels of ours would crash, the composed path does
// not.
TEST(EgcConv, OtherDevicesTakeTheComposedPath) {
  EgcConv conv(EgcConvOptions::egc_s(4, 8));
  for (at::Tensor* p : {&conv->bases_weight, &conv->comb_weight, &conv->comb_bias, &conv->bias})
    *p = p->detach().to(at::kMeta);
  try {
    const at::Tensor y = conv->forward(at::ones({14, 4}, at::kMeta), awkward_graph());
    EXPECT_TRUE(y.is_meta());
    EXPECT_EQ(y.sizes(), (std::vector<int64_t>{14, 8}));
  } catch (const c10::Error& e) {  // LibTorch 1.13 has no index_select there: far enough
    EXPECT_NE(std::string(e.what()).find("aten::index_select"), std::string::npos) << e.what();
  }
}

TEST(EgcConv, EvaluationSavesNothing) {
  EgcConv conv(EgcConvOptions::egc_s(4, 8));
  at::NoGradGuard no_grad;
  const at::Tensor y = conv->forward(at::ones({14, 4}), awkward_graph());
  EXPECT_FALSE(y.requires_grad());
  EXPECT_EQ(y.grad_fn(), nullptr);
}

TEST(EgcConv, BadInputIsNamed) {
  expect_message([] { EgcConv(EgcConvOptions(4, 10)); }, {"divisible by heads", "10", "8"});
  expect_message([] { EgcConv(EgcConvOptions(0, 8)); }, {"in_channels", "0"});
  expect_message([] { parse_aggregator("mx"); }, {"mx", "add", "std"});
  expect_message([] { nn::parse_weight_activation("relu"); }, {"relu", "softmax", "hardtanh"});
  EgcConv conv(EgcConvOptions(4, 8));
  const Csr graph = awkward_graph();
  expect_message(
      [&] {
        conv->forward(at::ones({14, 5}), graph);
      },
      {"x must be [14, 4]", "[14, 5]"});
  expect_message(
      [&] {
        conv->forward(at::ones({13, 4}), graph);
      },
      {"x must be [14, 4]", "[13, 4]"});
  expect_message([&] { conv->forward(at::ones({14}), graph); }, {"x must be [14, 4]", "[14]"});
  expect_message(
      [&] {
        conv->forward(at::ones({14, 4}, at::kDouble), graph);
      },
      {"Float", "Double"});
  const Csr rectangular = Csr::from_edges(14, 3, std::vector<int64_t>{0}, std::vector<int64_t>{0});
  expect_message(
      [&] {
        conv->forward(at::ones({14, 4}), rectangular);
      },
      {"targets must be its sources", "3"});
  const kernels::FusedShape shape{{Aggregator::kAdd}, SelfLoops::kAll, 1, 1, 8};
  const SliceLayout layout = SliceLayout::row_major(1, 8);
  const auto fused = [&](const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
    ops::fused_aggregate(graph, shape, layout, x, w, b);
  };
  const at::Tensor x = at::ones({14, 8});
  const at::Tensor w = at::ones({14, 1});
  expect_message([&] { fused(at::ones({14, 7}), w, {}); }, {"bases must be [14, 8]", "[14, 7]"});
  expect_message([&] { fused(x, at::ones({14, 2}), {}); }, {"weights must be [14, 1]", "[14, 2]"});
  expect_message([&] { fused(x, w, at::ones({7})); }, {"bias must be [8]", "[7]"});
  expect_message([&] { fused(x.to(at::kHalf), w, {}); }, {"float32 or float64", "Half"});
  expect_message([&] { fused(x, w.to(at::kDouble), {}); }, {"weights must be", "Double"});
}

TEST(EgcConv, SecondDerivativesAreRefused) {
  EgcConv conv(EgcConvOptions(4, 8));
  const at::Tensor x = at::ones({14, 4}).requires_grad_();
  const at::Tensor y = conv->forward(x, awkward_graph()).sum();
  EXPECT_ANY_THROW(y.backward({}, /*retain_graph=*/true, /*create_graph=*/true));
}

}  // namespace
}  // namespace egc
