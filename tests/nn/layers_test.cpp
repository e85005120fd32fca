// All layers of the table: gradients by finite differences, bits for any number of threads, every
// instruction set, the folded epilogue, states, bad input.
#include <gtest/gtest.h>

#include <cmath>

#include "egc/graph/topologies.h"
#include "egc/kernels/target.h"
#include "egc/nn/batch_norm.h"
#include "egc/nn/conv_table.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/kernels/random_problem.h"
#include "tests/tensor/gradcheck.h"

namespace egc {
namespace {

using nn::ConvSpec;
using testing::all_finite;
using testing::awkward_graph;
using testing::close;
using testing::expect_error;
using testing::random_tensor;
using testing::same_bits;

struct Case {
  const char* layer;
  std::vector<Aggregator> aggregators = {};
  int64_t heads = 2;

  bool takes_edge_weights() const {
    const std::string_view name = layer;
    return !name.starts_with("gat") && !name.starts_with("mpnn") && name != "pna";
  }
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

// With values everywhere, biases too; outputs are about as large as x.
std::shared_ptr<nn::Conv> layer_of(const Case& c, int64_t in, int64_t out,
                                   DType type = DType::kF32) {
  auto conv = nn::make_conv(c.layer, spec_of(c, in, out));
  conv->to(type);
  uint64_t seed = 100;
  for (const nn::ParameterPtr& p : conv->parameters()) {
    const Tensor values = random_tensor(p->value.rows(), p->value.columns(), seed++);
    const double scale = 1 / std::sqrt(static_cast<double>(in));
    for (int64_t k = 0; k < values.size(); ++k) values.data<double>()[k] *= scale;
    p->value.copy_from(values);
  }
  return conv;
}

Tensor infer(nn::Conv& conv, const Tensor& x, const Csr& graph,
             const ops::EpilogueTensors& epilogue = {}) {
  Tape tape = Tape::inference();
  return conv.forward(tape, x, graph, epilogue);
}

// The output and the gradients of x and of every parameter.
std::vector<Tensor> run(nn::Conv& conv, const Tensor& x, const Csr& graph, const Tensor& upstream) {
  Tape tape = Tape::training(0);
  const Tensor input = x.with_gradient();
  const Tensor y = conv.forward(tape, input, graph);
  tape.backward(y, upstream);
  std::vector<Tensor> all = {y.detached(), input.gradient()->take()};
  for (const nn::ParameterPtr& p : conv.parameters()) all.push_back(p->value.gradient()->take());
  return all;
}

class LayerTest : public ::testing::TestWithParam<Case> {
 protected:
  void TearDown() override { kernels::force_target(""); }
};

TEST_P(LayerTest, Gradcheck) {
  const auto conv = layer_of(GetParam(), 4, 6, DType::kF64);
  std::vector<Csr> graphs = {awkward_graph(), awkward_graph(false, 5)};
  if (GetParam().takes_edge_weights()) graphs.push_back(awkward_graph(true));
  for (const Csr& graph : graphs) {
    const Tensor x = random_tensor(graph.num_targets(), 4, 7).with_gradient();
    std::vector<testing::NamedTensor> inputs = {{"x", x}};
    for (const auto& [name, p] : conv->named_parameters()) inputs.push_back({name, p->value});
    testing::expect_gradients(
        inputs, [] { return Tape::training(0); },
        [&](Tape& tape) { return conv->forward(tape, x, graph); });
  }
}

TEST_P(LayerTest, SameBitsForAnyNumberOfThreads) {
  const Csr graph = make_topology("arxiv-like", 0, 0.02);
  const auto conv = layer_of(GetParam(), 48, 48);
  const Tensor x = random_tensor(graph.num_targets(), 48, 1, DType::kF32);
  const Tensor r = random_tensor(graph.num_targets(), 48, 2, DType::kF32);
  std::vector<Tensor> first;
  Tensor inferred;
  for (const int threads : {1, 2, 3, 4, 8})
    for (int repeat = 0; repeat < 3; ++repeat) {
      const testing::ThreadCount count(threads);
      const std::vector<Tensor> all = run(*conv, x, graph, r);
      const Tensor y = infer(*conv, x, graph);
      if (first.empty()) {
        first = all;
        inferred = y;
      }
      for (size_t k = 0; k < all.size(); ++k)
        ASSERT_TRUE(same_bits(all[k], first[k])) << threads << " threads, tensor " << k;
      ASSERT_TRUE(same_bits(y, inferred)) << threads << " threads, inference";
    }
}

// In float32, on odd widths, against float64.
TEST_P(LayerTest, EveryInstructionSetAgrees) {
  const Csr graph = awkward_graph();
  const Tensor x = random_tensor(graph.num_targets(), 34, 1, DType::kF32);
  const Tensor r = random_tensor(graph.num_targets(), 38, 2, DType::kF32);
  const auto narrow = layer_of(GetParam(), 34, 38);
  const auto wide = nn::make_conv(GetParam().layer, spec_of(GetParam(), 34, 38));
  wide->load_state(narrow->state(), "narrow");
  wide->to(DType::kF64);
  const std::vector<Tensor> want = run(*wide, x.to(DType::kF64), graph, r.to(DType::kF64));
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    const std::vector<Tensor> got = run(*narrow, x, graph, r);
    for (size_t k = 0; k < want.size(); ++k)
      EXPECT_TRUE(close(got[k], want[k], 1e-5)) << target << " tensor " << k;
    EXPECT_TRUE(close(infer(*narrow, x, graph), want[0], 1e-5)) << target;
  }
}

// What is folded into a layer in evaluation gives what the operators give one after the other.
TEST_P(LayerTest, EpilogueIsTheOperatorsInTurn) {
  const auto conv = layer_of(GetParam(), 6, 6);
  nn::NormActResidual norm(6);
  norm.weight->value.copy_from(random_tensor(1, 6, 1));
  norm.bias->value.copy_from(random_tensor(1, 6, 2));
  norm.running_mean->value.copy_from(random_tensor(1, 6, 3));
  norm.running_var->value.copy_from(testing::tensor_of(1, 6, {0.5, 0.8, 1, 1.3, 1.7, 2}));
  const Csr graph = awkward_graph();
  const Tensor x = random_tensor(graph.num_targets(), 6, 4, DType::kF32);
  for (const Tensor& residual : {x, Tensor()}) {
    Tape tape = Tape::inference();
    const Tensor in_turn = norm.forward(tape, infer(*conv, x, graph), 0.5, residual);
    EXPECT_TRUE(close(infer(*conv, x, graph, norm.fold(residual)), in_turn, 1e-6));
  }
}

TEST_P(LayerTest, EpilogueHasNoGradient) {
  const auto conv = layer_of(GetParam(), 6, 6);
  nn::NormActResidual norm(6);
  Rng rng(1);
  norm.reset_parameters(rng);
  const Csr graph = awkward_graph();
  const Tensor x = random_tensor(graph.num_targets(), 6, 1, DType::kF32);
  expect_error(ErrorKind::kUsage, {"epilogue: it has no gradient"}, [&] {
    Tape tape = Tape::training(0);
    conv->forward(tape, x, graph, norm.fold({}));
  });
}

TEST_P(LayerTest, InferenceKeepsNothing) {
  const auto conv = layer_of(GetParam(), 6, 6);
  const Tensor x = random_tensor(14, 6, 1, DType::kF32).with_gradient();
  EXPECT_EQ(infer(*conv, x, awkward_graph()).gradient(), nullptr);
}

TEST_P(LayerTest, StateIsACopyAndMakesAnEqualLayer) {
  const auto conv = layer_of(GetParam(), 6, 6);
  const Csr graph = awkward_graph();
  const Tensor x = random_tensor(graph.num_targets(), 6, 1, DType::kF32);
  const Tensor y = infer(*conv, x, graph);
  const State state = conv->state();
  for (const nn::ParameterPtr& p : conv->parameters()) p->value.fill(0.3);
  EXPECT_FALSE(same_bits(infer(*conv, x, graph), y));
  const auto other = nn::make_conv(GetParam().layer, spec_of(GetParam(), 6, 6));
  other->load_state(state, "a copy");
  EXPECT_TRUE(same_bits(infer(*other, x, graph), y));
}

TEST_P(LayerTest, InitialValuesAreAFunctionOfTheSeed) {
  const auto drawn = [](uint64_t seed) {
    const auto conv = nn::make_conv(GetParam().layer, spec_of(GetParam(), 6, 6));
    for (const nn::ParameterPtr& p : conv->parameters()) p->value.fill(NAN);
    Rng rng(seed);
    conv->reset_parameters(rng);
    return conv;
  };
  const auto one = drawn(1);
  const auto again = drawn(1);
  const auto other = drawn(2);
  bool differs = false;
  for (size_t k = 0; k < one->parameters().size(); ++k) {
    const Tensor& value = one->parameters()[k]->value;
    EXPECT_TRUE(all_finite(value)) << one->named_parameters()[k].first;
    EXPECT_TRUE(same_bits(value, again->parameters()[k]->value));
    differs = differs || !same_bits(value, other->parameters()[k]->value);
  }
  EXPECT_TRUE(differs);
}

TEST_P(LayerTest, EmptyGraphsAndNodesWithoutEdges) {
  const auto conv = layer_of(GetParam(), 6, 6);
  for (const int64_t nodes : {0, 1, 5}) {
    const Csr graph = Csr::from_edges(nodes, {}, {});
    const Tensor x = random_tensor(nodes, 6, 1, DType::kF32);
    const std::vector<Tensor> all = run(*conv, x, graph, Tensor::full(nodes, 6, DType::kF32, 1.0));
    EXPECT_EQ(all[0].rows(), nodes);
    EXPECT_EQ(all[0].columns(), 6);
    for (size_t k = 0; k < all.size(); ++k)
      EXPECT_TRUE(all[k].defined() && all_finite(all[k])) << nodes << " nodes, tensor " << k;
  }
}

TEST_P(LayerTest, BadInputIsNamed) {
  const auto conv = layer_of(GetParam(), 6, 6);
  const Csr graph = awkward_graph();
  const auto refuses = [&](const Tensor& x, const Csr& g,
                           std::initializer_list<std::string> parts) {
    expect_error(ErrorKind::kUsage, parts, [&] { infer(*conv, x, g); });
  };
  refuses(random_tensor(14, 5, 1, DType::kF32), graph, {"x must be [14, 6]", "[14, 5] float32"});
  refuses(random_tensor(13, 6, 1, DType::kF32), graph, {"x must be [14, 6]", "[13, 6] float32"});
  refuses(Tensor(), graph, {"x must be [14, 6]"});
  refuses(random_tensor(14, 6, 1), graph, {"must be", "float32", "float64"});
  const Csr rectangular = Csr::from_edges(14, 3, std::vector<int64_t>{0}, std::vector<int64_t>{0});
  refuses(random_tensor(14, 6, 1, DType::kF32), rectangular, {"targets must be its sources", "3"});
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerTest, ::testing::ValuesIn(layer_cases()), case_name);

TEST(ConvTable, UnknownNamesAndBadSizes) {
  ConvSpec spec;
  spec.in_channels = spec.out_channels = 7;
  const auto refuses = [&](const char* layer, std::initializer_list<std::string> parts) {
    expect_error(ErrorKind::kUsage, parts, [&] { nn::make_conv(layer, spec); });
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
  const auto conv = layer_of({"sage", {Aggregator::kMax}}, 2, 2);
  Tensor upstream = Tensor::zeros(3, 2, DType::kF32);
  upstream.data<float>()[0] = 1;  // of node 0 only
  const Tensor grad_x = run(*conv, Tensor::full(3, 2, DType::kF32, 1.0), graph, upstream)[1];
  EXPECT_NE(grad_x.item(1, 0), 0.0);
  EXPECT_NE(grad_x.item(1, 1), 0.0);
  EXPECT_EQ(grad_x.item(2, 0), 0.0);
  EXPECT_EQ(grad_x.item(2, 1), 0.0);
}

// One head wider than every tile of a product.
TEST(ConvTable, WideAttentionHasTheSameBitsForAnyNumberOfThreads) {
  const Csr graph = awkward_graph();
  for (const char* layer : {"gat", "gatv2"}) {
    const auto conv = layer_of({layer, {}, 1}, 304, 304);
    const Tensor x = random_tensor(graph.num_targets(), 304, 1, DType::kF32);
    const Tensor ones = Tensor::full(graph.num_targets(), 304, DType::kF32, 1.0);
    std::vector<Tensor> first;
    for (const int threads : {1, 2, 3, 4, 8}) {
      const testing::ThreadCount count(threads);
      const std::vector<Tensor> all = run(*conv, x, graph, ones);
      if (first.empty()) first = all;
      for (size_t k = 0; k < all.size(); ++k)
        EXPECT_TRUE(same_bits(all[k], first[k])) << threads << " threads, tensor " << k;
    }
  }
}

// Their definitions have no place for weights: better said than silently left out.
TEST(ConvTable, LayersWithoutUseForEdgeWeightsRefuseThem) {
  const Tensor x = Tensor::full(14, 8, DType::kF32, 1.0);
  for (const char* layer : {"gat", "gatv2", "mpnn-sum", "mpnn-max", "pna"})
    expect_error(ErrorKind::kUsage, {"edge weights"},
                 [&] { infer(*layer_of({layer}, 8, 8), x, awkward_graph(true)); });
}

TEST(ConvTable, NanIsNotSwallowedByAttention) {
  const Csr graph = awkward_graph();
  const Tensor x = random_tensor(14, 8, 1, DType::kF32);
  x.data<float>()[7 * 8 + 3] = NAN;
  for (const char* layer : {"gat", "gatv2"}) {
    const Tensor y = infer(*layer_of({layer}, 8, 8), x, graph);
    for (int64_t c = 0; c < 8; ++c) {
      EXPECT_TRUE(std::isnan(y.item(3, c))) << layer;  // 7 is a neighbour of 3
      EXPECT_FALSE(std::isnan(y.item(0, c))) << layer;
    }
  }
}

}  // namespace
}  // namespace egc
