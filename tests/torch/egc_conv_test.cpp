// EgcConv as a module of LibTorch: numbers beside the composed layer and finite differences,
// copies, files, types, errors.
#include "egc/torch/egc_conv.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/serialize.h>

#include <sstream>

#include "egc/core/parallel.h"
#include "egc/graph/topologies.h"
#include "egc/torch/composed.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/torch/tensors.h"

namespace egc {
namespace {

using nn::EgcConvOptions;
using testing::aggregator_set;
using testing::awkward_graph;
using testing::expect_error;
using testing::numeric_gradient;
using testing::relative_difference;
using torch::EgcConv;

constexpr SelfLoops kModes[] = {SelfLoops::kAll, SelfLoops::kSymnorm, SelfLoops::kNone};
constexpr WeightActivation kActivations[] = {WeightActivation::kIdentity,
                                             WeightActivation::kSoftmax, WeightActivation::kSigmoid,
                                             WeightActivation::kHardtanh};

torch::EgcConvTensors tensors_of(const EgcConv& conv) {
  return {conv->bases_lin->weight, conv->comb_lin->weight, conv->comb_lin->bias, conv->bias};
}

EgcConvOptions small(unsigned aggregators, SelfLoops mode, WeightActivation activation) {
  EgcConvOptions o(3, 4);
  o.heads = o.bases = 2;
  o.aggregators = aggregator_set(aggregators);
  o.self_loops = mode;
  o.activation = activation;
  return o;
}

// The result, then the gradients of x and of every parameter.
std::vector<at::Tensor> results(EgcConv conv, const at::Tensor& input, const at::Tensor& upstream,
                                const std::function<at::Tensor(const at::Tensor&)>& layer) {
  const at::Tensor x = input.clone().requires_grad_();
  for (const at::Tensor& p : conv->parameters()) p.mutable_grad() = at::Tensor();
  const at::Tensor y = layer(x);
  y.backward(upstream);
  std::vector<at::Tensor> all = {y.detach(), x.grad()};
  for (const at::Tensor& p : conv->parameters()) all.push_back(p.grad());
  return all;
}

class EgcConvTorch : public ::testing::TestWithParam<std::tuple<SelfLoops, WeightActivation>> {};

TEST_P(EgcConvTorch, EveryAggregatorAgreesWithTheComposedLayer) {
  const auto [mode, activation] = GetParam();
  at::manual_seed(0);
  for (const unsigned mask : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 0b1010101U, 127U})
    for (const at::ScalarType type : {at::kFloat, at::kDouble})
      for (const bool with_bias : {true, false}) {
        EgcConvOptions o = small(mask, mode, activation);
        o.bias = with_bias;
        EgcConv conv(o);
        conv->to(type);
        for (const bool weighted : {false, true}) {
          const Csr graph = awkward_graph(weighted);
          const at::Tensor x = at::randn({14, 3}, type);
          const at::Tensor r = at::randn({14, 4}, type);
          const auto ours =
              results(conv, x, r, [&](const at::Tensor& in) { return conv(in, graph); });
          const auto theirs = results(conv, x, r, [&](const at::Tensor& in) {
            return torch::composed_egc(o, tensors_of(conv), in, graph);
          });
          ASSERT_EQ(ours.size(), with_bias ? 6U : 5U);
          for (size_t k = 0; k < ours.size(); ++k)
            EXPECT_LE(relative_difference(ours[k], theirs[k]), type == at::kFloat ? 2e-4 : 1e-9)
                << "aggregators " << mask << ", tensor " << k << ", " << c10::toString(type);
        }
      }
}

TEST_P(EgcConvTorch, GradientsAreThoseOfFiniteDifferences) {
  const auto [mode, activation] = GetParam();
  at::manual_seed(1);
  const Csr graph = awkward_graph();
  for (const unsigned mask : {5U, 127U}) {
    EgcConv conv(small(mask, mode, activation));
    conv->to(at::kDouble);
    const at::Tensor x = at::randn({14, 3}, at::kDouble).requires_grad_();
    const at::Tensor r = at::randn({14, 4}, at::kDouble);
    const auto run = [&] { return conv(x, graph); };
    (run() * r).sum().backward();
    EXPECT_LE(relative_difference(x.grad(), numeric_gradient(run, x, r)), 1e-5);
    for (const auto& p : conv->named_parameters())
      EXPECT_LE(relative_difference(p.value().grad(), numeric_gradient(run, p.value(), r)), 1e-5)
          << p.key();
  }
}

INSTANTIATE_TEST_SUITE_P(Everything, EgcConvTorch,
                         ::testing::Combine(::testing::ValuesIn(kModes),
                                            ::testing::ValuesIn(kActivations)));

TEST(EgcConvTorch, FusedAggregateAgreesWithTheComposedOperator) {
  at::manual_seed(2);
  for (unsigned mask = 1; mask < 128; mask += 3) {
    const Csr graph = awkward_graph(mask % 2 == 0);
    const ops::EgcShape shape{aggregator_set(mask), kModes[mask % 3], 2, 3};
    const int64_t terms = 2 * shape.aggregators.size() * 3;
    std::vector<at::Tensor> in = {at::randn({14, 21}, at::kDouble),
                                  at::randn({14, terms}, at::kDouble),
                                  at::randn({14}, at::kDouble)};
    const at::Tensor r = at::randn({14, 14}, at::kDouble);
    std::vector<at::Tensor> all[2];
    for (const bool composed : {false, true}) {
      for (at::Tensor& t : in) t = t.detach().clone().requires_grad_();
      const at::Tensor y = composed ? torch::composed_aggregate(graph, shape, in[0], in[1], in[2])
                                    : torch::fused_aggregate(graph, shape, in[0], in[1], in[2]);
      y.backward(r);
      all[composed] = {y.detach(), in[0].grad(), in[1].grad(), in[2].grad()};
    }
    for (int k = 0; k < 4; ++k)
      EXPECT_LE(relative_difference(all[0][k], all[1][k]), 1e-9) << mask << " tensor " << k;
  }
}

TEST(EgcConvTorch, SameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  const Csr graph = make_topology("arxiv-like", 0, 0.02);
  at::manual_seed(1);
  EgcConvOptions o(32, 136);
  o.heads = o.bases = 4;
  o.aggregators = aggregator_set(127);
  EgcConv conv(o);
  const at::Tensor x = at::randn({graph.num_targets(), 32});
  const at::Tensor r = at::randn({graph.num_targets(), 136});
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 3, 8}) {
    at::set_num_threads(threads);
    const auto all = results(conv, x, r, [&](const at::Tensor& in) { return conv(in, graph); });
    if (first.empty()) first = all;
    for (size_t k = 0; k < all.size(); ++k)
      ASSERT_TRUE(at::equal(all[k], first[k])) << threads << " threads, tensor " << k;
  }
  at::set_num_threads(before);
}

TEST(EgcConvTorch, ParametersHaveTheNamesOfPyTorchGeometric) {
  const EgcConv conv(
      EgcConvOptions::egc_m(128, 136, {Aggregator::kSymnorm, Aggregator::kMax, Aggregator::kMean}));
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& p : conv->named_parameters()) shapes[p.key()] = p.value().sizes().vec();
  EXPECT_EQ(shapes, (std::map<std::string, std::vector<int64_t>>{{"bases_lin.weight", {136, 128}},
                                                                 {"comb_lin.weight", {48, 128}},
                                                                 {"comb_lin.bias", {48}},
                                                                 {"bias", {136}}}));
}

TEST(EgcConvTorch, Initialisation) {
  at::manual_seed(3);
  const EgcConv conv(EgcConvOptions::egc_s(100, 200));
  const auto greatest = [](const at::Tensor& t) { return t.abs().max().item<double>(); };
  const double glorot = std::sqrt(6.0 / (100 + 100));
  EXPECT_LE(greatest(conv->bases_lin->weight), glorot);
  EXPECT_GE(greatest(conv->bases_lin->weight), 0.9 * glorot);
  EXPECT_LE(greatest(conv->comb_lin->weight), 0.1);
  EXPECT_GE(greatest(conv->comb_lin->weight), 0.09);
  EXPECT_LE(greatest(conv->comb_lin->bias), 0.1);
  EXPECT_EQ(greatest(conv->bias), 0.0);
}

TEST(EgcConvTorch, ClonesAreIndependent) {
  const Csr graph = awkward_graph();
  const at::Tensor x = at::randn({14, 4});
  EgcConv conv(EgcConvOptions::egc_s(4, 8));
  EgcConv copy(std::dynamic_pointer_cast<torch::EgcConvImpl>(conv->clone()));
  const at::NoGradGuard no_grad;
  const at::Tensor y = conv(x, graph);
  EXPECT_TRUE(at::equal(copy(x, graph), y));
  for (const at::Tensor& p : conv->parameters()) at::Tensor(p).fill_(7.0);
  EXPECT_TRUE(at::equal(copy(x, graph), y));
  EXPECT_FALSE(at::equal(conv(x, graph), y));
}

TEST(EgcConvTorch, SaveAndLoad) {
  const Csr graph = awkward_graph();
  const at::Tensor x = at::randn({14, 4});
  EgcConv conv(EgcConvOptions::egc_s(4, 8));
  EgcConv other(EgcConvOptions::egc_s(4, 8));
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(at::equal(other(x, graph), conv(x, graph)));
  std::stringstream file;
  ::torch::save(conv, file);
  ::torch::load(other, file);
  EXPECT_TRUE(at::equal(other(x, graph), conv(x, graph)));
}

TEST(EgcConvTorch, TypesOfParameters) {
  const Csr graph = awkward_graph();
  EgcConv conv(EgcConvOptions::egc_s(4, 8));
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    conv->to(type);
    EXPECT_EQ(conv(at::ones({14, 4}, type), graph).scalar_type(), type);
    conv->to(at::kCPU, type);
  }
  conv->to(at::kCPU);
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16, at::kLong}) {
    const auto refused = [&](const std::function<void()>& f) {
      expect_error(ErrorKind::kUsage, {"float32 or float64", c10::toString(type)}, f);
      for (const at::Tensor& p : conv->parameters()) EXPECT_EQ(p.scalar_type(), at::kFloat);
    };
    refused([&] { conv->to(type); });
    refused([&] { conv->to(at::kCPU, type); });
    ::torch::nn::Sequential around(conv);
    refused([&] { around->to(type); });
  }
}

TEST(EgcConvTorch, Printed) {
  std::stringstream out;
  out << EgcConv(4, 8);
  EXPECT_NE(out.str().find("egc::torch::EgcConv(4, 8, heads=8, bases=4, aggregators=symnorm, "
                           "self_loops=all, activation=identity, bias=true)"),
            std::string::npos)
      << out.str();
}

TEST(EgcConvTorch, GraphsWithoutEdgesOrNodes) {
  EgcConvOptions o = small(127, SelfLoops::kNone, WeightActivation::kSoftmax);
  EgcConv conv(o);
  conv->to(at::kDouble);
  for (const int64_t nodes : {0, 3}) {
    const Csr graph = Csr::from_edges(nodes, std::vector<int64_t>(), std::vector<int64_t>());
    const at::Tensor x = at::randn({nodes, 3}, at::kDouble);
    const at::Tensor r = at::randn({nodes, 4}, at::kDouble);
    const auto ours = results(conv, x, r, [&](const at::Tensor& in) { return conv(in, graph); });
    const auto theirs = results(conv, x, r, [&](const at::Tensor& in) {
      return torch::composed_egc(o, tensors_of(conv), in, graph);
    });
    for (size_t k = 0; k < ours.size(); ++k)
      EXPECT_LE(relative_difference(ours[k], theirs[k]), 1e-12) << nodes << " nodes, tensor " << k;
  }
}

// The meta device has shapes but no memory: kernels of ours would crash, the composed layer does
// not.
TEST(EgcConvTorch, OtherDevicesTakeTheComposedLayer) {
  EgcConv conv(EgcConvOptions::egc_s(4, 8));
  torch::EgcConvTensors t = tensors_of(conv);
  for (at::Tensor* p : {&t.bases_weight, &t.comb_weight, &t.comb_bias, &t.bias})
    *p = p->detach().to(at::kMeta);
  try {
    const at::Tensor y =
        torch::egc_conv(conv->options, t, at::ones({14, 4}, at::kMeta), awkward_graph());
    EXPECT_TRUE(y.is_meta());
    EXPECT_EQ(y.sizes(), (std::vector<int64_t>{14, 8}));
  } catch (const c10::Error& e) {  // LibTorch 1.13 has no index_select there: far enough
    EXPECT_NE(std::string(e.what()).find("aten::index_select"), std::string::npos) << e.what();
  }
}

TEST(EgcConvTorch, BadInputIsNamed) {
  const auto refused = [](std::initializer_list<std::string> words, const auto& f) {
    expect_error(ErrorKind::kUsage, words, f);
  };
  refused({"divisible by heads", "10", "8"}, [] { EgcConv(EgcConvOptions(4, 10)); });
  refused({"in_channels", "0"}, [] { EgcConv(EgcConvOptions(0, 8)); });
  EgcConv conv(4, 8);
  const Csr graph = awkward_graph();
  refused({"x must be [14, 4]", "[14, 5]"}, [&] { conv(at::ones({14, 5}), graph); });
  refused({"x must be [14, 4]", "[13, 4]"}, [&] { conv(at::ones({13, 4}), graph); });
  refused({"x must be [14, 4]", "[14]"}, [&] { conv(at::ones({14}), graph); });
  refused({"Float", "Double"}, [&] { conv(at::ones({14, 4}, at::kDouble), graph); });
  refused({"Float", "Half"}, [&] { conv(at::ones({14, 4}, at::kHalf), graph); });
  const Csr rectangular = Csr::from_edges(14, 3, std::vector<int64_t>{0}, std::vector<int64_t>{0});
  refused({"targets must be its sources", "3"}, [&] { conv(at::ones({14, 4}), rectangular); });
  const ops::EgcShape shape{{Aggregator::kAdd}};
  const auto fused = [&](const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
    torch::fused_aggregate(graph, shape, x, w, b);
  };
  const at::Tensor x = at::ones({14, 8});
  const at::Tensor w = at::ones({14, 1});
  refused({"bases", "[13, 8]"}, [&] { fused(at::ones({13, 8}), w, {}); });
  refused({"weights", "[14, 1]", "[14, 2]"}, [&] { fused(x, at::ones({14, 2}), {}); });
  refused({"bias", "[1, 8]", "[1, 7]"}, [&] { fused(x, w, at::ones({7})); });
  refused({"float32 or float64", "Half"}, [&] { fused(x.to(at::kHalf), w, {}); });
  refused({"weights", "float64"}, [&] { fused(x, w.to(at::kDouble), {}); });
}

}  // namespace
}  // namespace egc
