// All layers of the table: gradients by finite differences, bits for any number of threads, the
// folded epilogue, cloning, bad input.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "egc/graph/topologies.h"
#include "egc/nn/batch_norm.h"
#include "egc/nn/conv_table.h"
#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/ops/tensors.h"

namespace egc {
namespace {

using nn::ConvSpec;
using testing::awkward_graph;
using testing::relative_difference;

struct Case {
  const char* layer;
  std::vector<Aggregator> aggregators = {};
  int64_t heads = 2;
};

// Every name of the table, and the options that take another path.
std::vector<Case> layer_cases() {
  std::vector<Case> all;
  for (const std::string_view name : nn::conv_names()) all.push_back({name.data()});
  all.push_back({"sage", {Aggregator::kMax}});
  all.push_back({"regc", {Aggregator::kMean}});
  all.push_back({"gat", {}, 1});
  all.push_back({"gatv2", {}, 1});
  return all;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = fmt::format("{}_{}", info.param.layer, info.index);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

ConvSpec spec_of(const Case& c, int64_t in, int64_t out) {
  ConvSpec spec;
  spec.in_channels = in;
  spec.out_channels = out;
  spec.heads = c.heads;
  spec.bases = 2;
  spec.towers = 2;
  if (!c.aggregators.empty()) spec.aggregators = AggregatorSet(c.aggregators);
  return spec;
}

class LayerTest : public ::testing::TestWithParam<Case> {};

TEST_P(LayerTest, Gradcheck) {
  torch::manual_seed(3);
  const auto conv = nn::make_conv(GetParam().layer, spec_of(GetParam(), 4, 6));
  const auto module = nn::as_module(conv);
  module->to(at::kDouble);
  for (const Csr& graph : {awkward_graph(), awkward_graph(false, 5)}) {
    const at::Tensor x = at::randn({graph.num_targets(), 4}, at::kDouble).requires_grad_();
    const at::Tensor r = at::randn({graph.num_targets(), 6}, at::kDouble);
    const auto run = [&] { return conv->forward(x, graph); };
    module->zero_grad();
    (run() * r).sum().backward();
    EXPECT_LE(relative_difference(x.grad(), testing::numeric_gradient(run, x, r)), 1e-5);
    for (const auto& p : module->named_parameters())
      EXPECT_LE(relative_difference(p.value().grad(), testing::numeric_gradient(run, p.value(), r)),
                1e-5)
          << p.key();
  }
}

TEST_P(LayerTest, SameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  const Csr graph = make_topology("arxiv-like", 0, 0.02);
  torch::manual_seed(1);
  const auto conv = nn::make_conv(GetParam().layer, spec_of(GetParam(), 48, 48));
  const auto module = nn::as_module(conv);
  const at::Tensor input = at::randn({graph.num_targets(), 48});
  const at::Tensor r = at::randn({graph.num_targets(), 48});
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 4, 8})
    for (int run = 0; run < 3; ++run) {
      at::set_num_threads(threads);
      const at::Tensor x = input.clone().requires_grad_();
      module->zero_grad();
      const at::Tensor y = conv->forward(x, graph);
      y.backward(r);
      std::vector<at::Tensor> all = {y.detach(), x.grad()};
      for (const at::Tensor& p : module->parameters()) all.push_back(p.grad().clone());
      if (first.empty()) first = all;
      for (size_t k = 0; k < all.size(); ++k)
        ASSERT_TRUE(at::equal(all[k], first[k])) << threads << " threads, tensor " << k;
    }
  at::set_num_threads(before);
}

// What is folded into a layer in evaluation gives what the operators give one after the other.
TEST_P(LayerTest, EpilogueIsTheOperatorsInTurn) {
  const std::string layer = GetParam().layer;
  torch::manual_seed(2);
  const auto conv = nn::make_conv(layer, spec_of(GetParam(), 6, 6));
  nn::BatchNorm norm(6);
  norm->running_mean.normal_();
  norm->running_var.uniform_(0.5, 2.0);
  norm->eval();
  at::NoGradGuard no_grad;
  norm->weight.normal_();
  norm->bias.normal_();
  const Csr graph = awkward_graph();
  const at::Tensor x = at::randn({graph.num_targets(), 6});
  const at::Tensor in_turn = norm->forward(conv->forward(x, graph), 0, x);
  EXPECT_LE(relative_difference(conv->forward(x, graph, norm->fold(x)), in_turn), 1e-6);
  const at::Tensor without = norm->forward(conv->forward(x, graph), 0, {});
  EXPECT_LE(relative_difference(conv->forward(x, graph, norm->fold({})), without), 1e-6);
}

TEST_P(LayerTest, EpilogueHasNoGradient) {
  const std::string layer = GetParam().layer;
  const auto conv = nn::make_conv(layer, spec_of(GetParam(), 6, 6));
  nn::BatchNorm norm(6);
  const Csr graph = awkward_graph();
  const at::Tensor x = at::randn({graph.num_targets(), 6});
  testing::expect_error(ErrorKind::kUsage, {"epilogue"},
                        [&] { conv->forward(x, graph, norm->fold({})); });
}

TEST_P(LayerTest, CloneIsIndependentAndEqual) {
  const auto conv = nn::make_conv(GetParam().layer, spec_of(GetParam(), 6, 6));
  const auto module = nn::as_module(conv);
  const auto copy = module->clone();
  const Csr graph = awkward_graph();
  const at::Tensor x = at::randn({graph.num_targets(), 6});
  at::NoGradGuard no_grad;
  const at::Tensor y = conv->forward(x, graph);
  const auto other = std::dynamic_pointer_cast<nn::Conv>(copy);
  EXPECT_TRUE(at::equal(other->forward(x, graph), y));
  for (at::Tensor p : module->parameters()) p.fill_(0.3);
  EXPECT_TRUE(at::equal(other->forward(x, graph), y));
  EXPECT_FALSE(at::equal(conv->forward(x, graph), y));
}

TEST_P(LayerTest, EmptyGraphsAndNodesWithoutEdges) {
  const auto conv = nn::make_conv(GetParam().layer, spec_of(GetParam(), 6, 6));
  const auto module = nn::as_module(conv);
  for (const int64_t nodes : {0, 1, 5}) {
    const Csr graph = Csr::from_edges(nodes, {}, {});
    const at::Tensor x = at::randn({nodes, 6}).requires_grad_();
    const at::Tensor y = conv->forward(x, graph);
    ASSERT_EQ(y.sizes(), (std::vector<int64_t>{nodes, 6}));
    EXPECT_TRUE(at::isfinite(y).all().item<bool>());
    y.sum().backward();
    EXPECT_TRUE(at::isfinite(x.grad()).all().item<bool>());
  }
}

TEST_P(LayerTest, BadInputIsNamed) {
  const auto conv = nn::make_conv(GetParam().layer, spec_of(GetParam(), 6, 6));
  const Csr graph = awkward_graph();
  const auto refuses = [&](const at::Tensor& x, const Csr& g, const std::string& part) {
    testing::expect_error(ErrorKind::kUsage, {part}, [&] { conv->forward(x, g); });
  };
  refuses(at::ones({14, 5}), graph, "[14, 5]");
  refuses(at::ones({13, 6}), graph, "[13, 6]");
  refuses(at::ones({14}), graph, "[14]");
  refuses(at::ones({14, 6}, at::kDouble), graph, "Double");
  const Csr rectangular = Csr::from_edges(14, 3, std::vector<int64_t>{0}, std::vector<int64_t>{0});
  refuses(at::ones({14, 6}), rectangular, "targets must be its sources");
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerTest, ::testing::ValuesIn(layer_cases()), case_name);

TEST(ConvTable, UnknownNamesAndBadSizes) {
  ConvSpec spec;
  spec.in_channels = spec.out_channels = 7;
  const auto refuses = [&](const char* layer, std::initializer_list<std::string> parts) {
    testing::expect_error(ErrorKind::kUsage, parts, [&] { nn::make_conv(layer, spec); });
  };
  refuses("egcs", {"egcs", "egc-s", "gatv2", "mlp"});
  for (const char* layer : {"egc-s", "gat", "gatv2", "regc"}) refuses(layer, {"heads", "7"});
  for (const char* layer : {"mpnn-sum", "mpnn-max", "pna"}) refuses(layer, {"towers", "7"});
  spec.in_channels = 0;
  for (const std::string_view layer : nn::conv_names())
    EXPECT_THROW(nn::make_conv(layer, spec), Error) << layer;
}

TEST(ConvTable, GradientsOfTiesGoToTheFirstWinner) {
  const Csr graph = Csr::from_edges(3, std::vector<int64_t>{1, 2}, std::vector<int64_t>{0, 0});
  ConvSpec spec;
  spec.in_channels = spec.out_channels = 2;
  spec.aggregators = AggregatorSet{Aggregator::kMax};
  const auto conv = nn::make_conv("sage", spec);
  const at::Tensor x = at::ones({3, 2}).requires_grad_();
  conv->forward(x, graph)[0].sum().backward();
  EXPECT_GT(x.grad()[1].abs().sum().item<double>(), 0.0);
  EXPECT_EQ(x.grad()[2].abs().sum().item<double>(), 0.0);
}

// One head wide enough that LibTorch's own reductions would be cut by the number of threads.
TEST(ConvTable, WideAttentionHasTheSameBitsForAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  const Csr graph = awkward_graph();
  ConvSpec spec;
  spec.in_channels = spec.out_channels = 304;
  spec.heads = 1;
  const auto conv = nn::make_conv("gat", spec);
  const auto module = nn::as_module(conv);
  const at::Tensor x = at::randn({graph.num_targets(), 304});
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 3, 4, 8}) {
    at::set_num_threads(threads);
    module->zero_grad();
    const at::Tensor y = conv->forward(x, graph);
    y.backward(at::ones_like(y));
    std::vector<at::Tensor> all = {y.detach()};
    for (const at::Tensor& p : module->parameters()) all.push_back(p.grad().clone());
    if (first.empty()) first = all;
    for (size_t k = 0; k < all.size(); ++k)
      EXPECT_TRUE(at::equal(all[k], first[k])) << threads << " threads, tensor " << k;
  }
  at::set_num_threads(before);
}

// Their definitions have no place for weights: better said than silently left out.
TEST(ConvTable, LayersWithoutUseForEdgeWeightsRefuseThem) {
  ConvSpec spec;
  spec.in_channels = spec.out_channels = 8;
  for (const char* layer : {"gat", "gatv2", "mpnn-sum", "mpnn-max", "pna"})
    testing::expect_error(ErrorKind::kUsage, {"edge weights"}, [&] {
      nn::make_conv(layer, spec)->forward(at::ones({14, 8}), awkward_graph(true));
    });
}

TEST(ConvTable, NanIsNotSwallowedByAttention) {
  ConvSpec spec;
  spec.in_channels = spec.out_channels = 8;
  const Csr graph = awkward_graph();
  at::Tensor x = at::randn({14, 8});
  x[7][3] = NAN;
  at::NoGradGuard no_grad;
  for (const char* layer : {"gat", "gatv2"}) {
    const at::Tensor y = nn::make_conv(layer, spec)->forward(x, graph);
    EXPECT_TRUE(at::isnan(y[3]).all().item<bool>()) << layer;  // 7 is a neighbour of 3
    EXPECT_FALSE(at::isnan(y[0]).any().item<bool>()) << layer;
  }
}

}  // namespace
}  // namespace egc
