// What blocks have beside a graph layer, against their definitions computed value by value; that
// gradients and folding are right is tests/models/networks_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "egc/graph/batch.h"
#include "egc/models/body.h"
#include "egc/models/feed_forward.h"
#include "egc/models/head.h"
#include "egc/models/virtual_node.h"
#include "tests/core/expect_error.h"
#include "tests/models/network_inputs.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using models::ModelConfig;
using testing::close;
using testing::expect_error;
using testing::random_tensor;

ModelConfig config_of(int64_t hidden) {
  ModelConfig c;
  c.hidden = hidden;
  c.features = 3;
  return c;
}

// A module in float64 with random values, its variances positive.
void fill_randomly(nn::Module& module) {
  module.to(DType::kF64);
  State state = module.state();
  uint64_t seed = 50;
  for (auto& [name, array] : state) {
    if (array.dtype() == DType::kI64) continue;
    const Tensor values = random_tensor(1, array.numel(), ++seed);
    for (int64_t k = 0; k < values.size() && name.ends_with("running_var"); ++k)
      values.data<double>()[k] = 0.5 + std::abs(values.data<double>()[k]);
    array = NdArray(array.shape(), values);
  }
  module.load_state(state, "test");
}

// x W' + b, one value after the other.
Tensor linear(const Tensor& x, const State& state, const std::string& name) {
  const Tensor w = state.at(name + ".weight").to_tensor(DType::kF64);
  const Tensor b = state.at(name + ".bias").to_tensor(DType::kF64);
  const Tensor y = Tensor::empty(x.rows(), w.rows(), DType::kF64);
  for (int64_t i = 0; i < y.rows(); ++i)
    for (int64_t o = 0; o < y.columns(); ++o) {
      double sum = b.data<double>()[o];
      for (int64_t k = 0; k < x.columns(); ++k) sum += x.item(i, k) * w.item(o, k);
      y.data<double>()[i * y.columns() + o] = sum;
    }
  return y;
}

// In place, with the running statistics.
void batch_norm(const Tensor& x, const State& state, const std::string& name) {
  const auto value = [&](const char* what, int64_t c) {
    return state.at(name + what).to_tensor(DType::kF64).data<double>()[c];
  };
  for (int64_t i = 0; i < x.rows(); ++i)
    for (int64_t c = 0; c < x.columns(); ++c) {
      double& v = x.data<double>()[i * x.columns() + c];
      v = (v - value(".running_mean", c)) / std::sqrt(value(".running_var", c) + 1e-5) *
              value(".weight", c) +
          value(".bias", c);
    }
}

// In place.
void layer_norm(const Tensor& x, const State& state, const std::string& name) {
  const auto columns = static_cast<double>(x.columns());
  for (int64_t i = 0; i < x.rows(); ++i) {
    double mean = 0;
    double variance = 0;
    for (int64_t c = 0; c < x.columns(); ++c) mean += x.item(i, c) / columns;
    for (int64_t c = 0; c < x.columns(); ++c)
      variance += (x.item(i, c) - mean) * (x.item(i, c) - mean) / columns;
    for (int64_t c = 0; c < x.columns(); ++c)
      x.data<double>()[i * x.columns() + c] =
          (x.item(i, c) - mean) / std::sqrt(variance + 1e-5) *
              state.at(name + ".weight").to_tensor(DType::kF64).item(0, c) +
          state.at(name + ".bias").to_tensor(DType::kF64).item(0, c);
  }
}

void relu(const Tensor& x) {
  for (int64_t k = 0; k < x.size(); ++k) x.data<double>()[k] = std::max(0.0, x.data<double>()[k]);
}

// x += y.
void add(const Tensor& x, const Tensor& y) {
  for (int64_t k = 0; k < x.size(); ++k) x.data<double>()[k] += y.data<double>()[k];
}

TEST(FeedForward, IsItsDefinition) {
  for (const int64_t times : {1, 2, 5})
    for (const bool norm : {true, false}) {
      ModelConfig c = config_of(6);
      c.feed_forward = times;
      c.norm = norm ? models::Norm::kBatch : models::Norm::kNone;
      models::FeedForward sublayer(c);
      fill_randomly(sublayer);
      const State state = sublayer.state();
      EXPECT_EQ(state.at("linears.0.weight").shape(), (std::vector<int64_t>{6 * times, 6}));
      const Tensor x = random_tensor(11, 6, 1);
      const Tensor inner = linear(x, state, "linears.0");
      relu(inner);
      const Tensor want = linear(inner, state, "linears.1");
      add(want, x);
      if (norm) batch_norm(want, state, "norm");
      for (const bool recorded : {false, true}) {
        Tape tape = recorded ? Tape::differentiation() : Tape::inference();
        EXPECT_TRUE(close(sublayer.forward(tape, x), want, 1e-12)) << times << norm << recorded;
      }
    }
}

TEST(FeedForward, TakesTheNormOfTheBlocks) {
  ModelConfig c = config_of(6);
  c.feed_forward = 2;
  c.norm = models::Norm::kLayer;
  models::FeedForward sublayer(c);
  fill_randomly(sublayer);
  const State state = sublayer.state();
  EXPECT_FALSE(state.contains("norm.running_mean"));
  const Tensor x = random_tensor(11, 6, 1);
  const Tensor inner = linear(x, state, "linears.0");
  relu(inner);
  const Tensor want = linear(inner, state, "linears.1");
  add(want, x);
  layer_norm(want, state, "norm");
  Tape tape = Tape::inference();
  EXPECT_TRUE(close(sublayer.forward(tape, x), want, 1e-12));
}

// Three graphs, one of them empty and one a single node, two layers that aggregate nothing: every
// step of the definition by itself.
TEST(VirtualNode, IsItsDefinition) {
  for (const bool residual : {true, false}) {
    ModelConfig c = config_of(5);
    c.layers = 3;
    c.residual = residual;
    c.virtual_node = true;
    models::VirtualNode node(c);
    fill_randomly(node);
    const State state = node.state();
    EXPECT_EQ(state.at("embedding").shape(), (std::vector<int64_t>{5}));
    const std::vector<int64_t> first_node = {0, 4, 4, 5};
    const std::vector<int64_t> graph_of = {0, 0, 0, 0, 2};
    const Csr pool = pool_graph(first_node);
    const Tensor x = random_tensor(5, 5, 1);
    Tape tape = Tape::inference();
    const Tensor start = node.start(tape, pool);
    for (int64_t g = 0; g < 3; ++g)
      for (int64_t k = 0; k < 5; ++k)
        EXPECT_EQ(start.item(g, k), state.at("embedding").to_tensor(DType::kF64).item(0, k));
    const Tensor some = random_tensor(3, 5, 2);
    const Tensor spread = node.spread(tape, x, some, pool);
    Tensor want = some.clone();
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t k = 0; k < 5; ++k) {
        EXPECT_DOUBLE_EQ(spread.item(i, k), x.item(i, k) + some.item(graph_of[i], k));
        want.data<double>()[graph_of[i] * 5 + k] += x.item(i, k);
      }
    for (const char* stage : {"0", "1"}) {
      want = linear(want, state, std::string("updates.1.linears.") + stage);
      batch_norm(want, state, std::string("updates.1.norms.") + stage);
      relu(want);
    }
    if (residual) add(want, some);
    for (const bool recorded : {false, true}) {
      Tape again = recorded ? Tape::differentiation() : Tape::inference();
      EXPECT_TRUE(close(node.update(again, 1, x, some, pool), want, 1e-11)) << recorded;
    }
  }
}

TEST(VirtualNode, BeginsAsZeros) {
  ModelConfig c = config_of(8);
  c.virtual_node = true;
  const State state = testing::new_network(c)->state();
  for (const double v :
       testing::values_of(state.at("body.virtual_node.embedding").to_tensor(DType::kF64)))
    EXPECT_EQ(v, 0);
  EXPECT_TRUE(state.contains("body.virtual_node.updates.2.linears.1.weight"));
  EXPECT_FALSE(state.contains("body.virtual_node.updates.3.linears.0.weight"));  // of four layers
}

// Layers that look at no neighbor: what one node has reaches the others of its graph all the same,
// and no other graph.
TEST(VirtualNode, JoinsTheNodesOfAGraph) {
  ModelConfig c = config_of(8);
  c.layers = 2;
  c.model = "mlp";
  const Csr graph = Csr::from_edges(6, std::vector<int64_t>{}, std::vector<int64_t>{});
  const std::vector<int64_t> first_node = {0, 3, 6};
  for (const bool joined : {false, true}) {
    c.virtual_node = joined;
    const auto body = models::make_body(c);
    Rng rng(3);
    body->reset_parameters(rng);
    body->to(DType::kF64);
    const Tensor x = random_tensor(6, 8, 1);
    const auto run = [&] {
      Tape tape = Tape::inference();
      return body->forward(tape, x, {graph, first_node});
    };
    const Tensor before = run();
    for (int64_t k = 0; k < 8; ++k) x.data<double>()[k] += 1;  // of node 0
    const Tensor after = run();
    for (int64_t i = 0; i < 6; ++i) {
      bool same = true;
      for (int64_t k = 0; k < 8; ++k) same = same && after.item(i, k) == before.item(i, k);
      EXPECT_EQ(same, i >= 3 || (i > 0 && !joined)) << "node " << i << " joined " << joined;
    }
  }
}

TEST(FeedForward, IsAfterEveryLayerThatSomethingFollows) {
  ModelConfig c = config_of(8);
  c.layers = 3;
  c.feed_forward = 2;
  const auto has = [&](const ModelConfig& config, int layer) {
    return testing::new_network(config)->state().contains(
        fmt::format("body.blocks.{}.feed_forward.linears.1.bias", layer));
  };
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(has(c, k));
  c.task = Task::kNodeClassification;
  c.encoder = models::Encoder::kNone;
  c.residual = false;
  EXPECT_TRUE(has(c, 1));
  EXPECT_FALSE(has(c, 2));  // the network's result
}

TEST(Head, HasAsManyLinearLayersAsConfigured) {
  ModelConfig c = config_of(20);
  c.outputs = 7;
  const auto widths = [&](int64_t layers) {
    c.head_layers = layers;
    std::vector<int64_t> out;
    const State state = models::make_head(c, c.hidden)->state();
    for (int k = 0; state.contains(fmt::format("mlp.linears.{}.weight", k)); ++k)
      out.push_back(state.at(fmt::format("mlp.linears.{}.weight", k)).size(0));
    return out;
  };
  EXPECT_EQ(widths(1), (std::vector<int64_t>{7}));
  EXPECT_EQ(widths(2), (std::vector<int64_t>{10, 7}));
  EXPECT_EQ(widths(ModelConfig().head_layers), (std::vector<int64_t>{10, 5, 7}));
  EXPECT_EQ(widths(5), (std::vector<int64_t>{10, 5, 2, 1, 7}));
  c.head_layers = 6;
  expect_error(ErrorKind::kUsage, {"hidden of at least 32, got 20"},
               [&] { models::make_head(c, c.hidden); });
}

}  // namespace
}  // namespace egc
