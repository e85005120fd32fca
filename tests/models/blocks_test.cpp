// What blocks have beside a graph layer, against their definitions computed value by value; that
// gradients and folding are right is tests/models/networks_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "egc/models/feed_forward.h"
#include "egc/models/head.h"
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
      c.norm = norm;
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
               [&] { models::make_network(c); });
}

}  // namespace
}  // namespace egc
