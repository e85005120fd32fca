// GA-MLP's body against dense matrices.
#include <gtest/gtest.h>

#include <cmath>

#include "egc/models/body.h"
#include "tests/tensor/tensors.h"

namespace egc::models {
namespace {

constexpr int64_t kSize = 9;
constexpr int64_t kHidden = 6;
constexpr int64_t kLayers = 3;

// A[i, j] = 1 for an edge from j to i. Not symmetric; the last node has no neighbour.
Tensor random_adjacency(uint64_t seed) {
  Rng rng(seed);
  Tensor a = Tensor::zeros(kSize, kSize, DType::kF64);
  for (int64_t i = 0; i + 1 < kSize; ++i)
    for (int64_t j = 0; j + 1 < kSize; ++j)
      if (i != j && rng.below(3) == 0) a.data<double>()[i * kSize + j] = 1;
  return a;
}

Csr graph_of(const Tensor& adjacency) {
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < kSize; ++i)
    for (int64_t j = 0; j < kSize; ++j)
      if (adjacency.item(i, j) != 0) {
        sources.push_back(j);
        targets.push_back(i);
      }
  return Csr::from_edges(kSize, sources, targets);
}

Tensor diffusion_of(const Tensor& adjacency, Aggregator aggregator) {
  if (aggregator == Aggregator::kAdd) return adjacency;
  const Tensor out = adjacency.clone();
  std::vector<double> scale;
  for (int64_t i = 0; i < kSize; ++i) {
    out.data<double>()[i * kSize + i] += 1;
    double degree = 0;
    for (int64_t j = 0; j < kSize; ++j) degree += out.item(i, j);
    scale.push_back(1 / std::sqrt(degree));
  }
  for (int64_t i = 0; i < kSize; ++i)
    for (int64_t j = 0; j < kSize; ++j) out.data<double>()[i * kSize + j] *= scale[i] * scale[j];
  return out;
}

// a b, or a b'.
Tensor product(const Tensor& a, const Tensor& b, bool transposed = false) {
  Tensor out = Tensor::zeros(a.rows(), transposed ? b.rows() : b.columns(), DType::kF64);
  for (int64_t i = 0; i < out.rows(); ++i)
    for (int64_t j = 0; j < out.columns(); ++j)
      for (int64_t k = 0; k < a.columns(); ++k)
        out.data<double>()[i * out.columns() + j] +=
            a.item(i, k) * (transposed ? b.item(j, k) : b.item(k, j));
  return out;
}

TEST(GaMlp, IsAnMlpOfThePowersOfItsDiffusion) {
  for (const Aggregator aggregator : {Aggregator::kSymnorm, Aggregator::kAdd}) {
    ModelConfig config;
    config.model = "ga-mlp";
    config.hidden = kHidden;
    config.layers = kLayers;
    if (aggregator == Aggregator::kAdd) config.aggregators = AggregatorSet{aggregator};
    const auto body = make_body(config);
    Rng rng(4);
    body->reset_parameters(rng);
    body->to(DType::kF64);
    const Tensor adjacency = random_adjacency(7);
    const Tensor x = testing::random_tensor(kSize, kHidden, 5);

    Tensor expected = Tensor::empty(kSize, (kLayers + 1) * kHidden, DType::kF64);
    Tensor power = x;
    for (int64_t k = 0; k <= kLayers; ++k) {
      for (int64_t i = 0; i < kSize; ++i)
        std::copy_n(power.data<double>() + i * kHidden, kHidden,
                    expected.data<double>() + i * expected.columns() + k * kHidden);
      power = product(diffusion_of(adjacency, aggregator), power);
    }
    const State weights = body->state();
    for (const char* k : {"0", "1"}) {
      const std::string linear = std::string("linears.") + k;
      const Tensor bias = weights.at(linear + ".bias").to_tensor(DType::kF64);
      expected = product(expected, weights.at(linear + ".weight").to_tensor(DType::kF64), true);
      // Fresh statistics: mean 0, variance 1.
      for (int64_t n = 0; n < expected.size(); ++n) {
        double& y = expected.data<double>()[n];
        y = std::max(0.0, y + bias.item(0, n % expected.columns())) / std::sqrt(1.0 + 1e-5);
      }
    }
    double most = 0;
    for (const double v : testing::values_of(expected)) most = std::max(most, v);
    EXPECT_GT(most, 0.01);
    for (const bool recorded : {false, true}) {
      Tape tape = recorded ? Tape::differentiation() : Tape::inference();
      EXPECT_TRUE(
          testing::close(body->forward(tape, x, {graph_of(adjacency), {}}), expected, 1e-10))
          << name_of(aggregator);
    }
  }
}

}  // namespace
}  // namespace egc::models
