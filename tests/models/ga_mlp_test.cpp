// GA-MLP's body against dense matrices.
#include <gtest/gtest.h>

#include "egc/core/rng.h"
#include "egc/models/body.h"

namespace egc::models {
namespace {

constexpr int64_t kSize = 9;

// A[i][j] = 1 for an edge from j to i. Not symmetric; the last node has no neighbour.
at::Tensor random_adjacency(uint64_t seed) {
  Rng rng(seed);
  at::Tensor a = at::zeros({kSize, kSize}, at::kDouble);
  for (int64_t i = 0; i + 1 < kSize; ++i)
    for (int64_t j = 0; j + 1 < kSize; ++j)
      if (i != j && rng.below(3) == 0) a[i][j] = 1;
  return a;
}

Csr graph_of(const at::Tensor& adjacency) {
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < kSize; ++i)
    for (int64_t j = 0; j < kSize; ++j)
      if (adjacency[i][j].item<double>() != 0) {
        sources.push_back(j);
        targets.push_back(i);
      }
  return Csr::from_edges(kSize, sources, targets);
}

at::Tensor diffusion_of(const at::Tensor& adjacency, Aggregator aggregator) {
  if (aggregator == Aggregator::kAdd) return adjacency;
  const at::Tensor loops = adjacency + at::eye(kSize, at::kDouble);
  const at::Tensor scale = loops.sum(1).rsqrt();
  return scale.view({-1, 1}) * loops * scale;
}

TEST(GaMlp, IsAnMlpOfThePowersOfItsDiffusion) {
  for (const Aggregator aggregator : {Aggregator::kSymnorm, Aggregator::kAdd}) {
    ModelConfig config;
    config.model = "ga-mlp";
    config.hidden = 6;
    config.layers = 3;
    if (aggregator == Aggregator::kAdd) config.aggregators = AggregatorSet{aggregator};
    at::manual_seed(4);
    const auto body = make_body(config);
    body->to(at::kDouble);
    body->eval();
    const at::Tensor adjacency = random_adjacency(7);
    const at::Tensor x = at::randn({kSize, config.hidden}, at::kDouble);
    std::vector<at::Tensor> powers = {x};
    for (int64_t k = 0; k < config.layers; ++k)
      powers.push_back(diffusion_of(adjacency, aggregator).mm(powers.back()));
    at::Tensor expected = at::cat(powers, 1);
    const auto weights = body->named_parameters();
    for (const char* k : {"0", "1"}) {
      const std::string linear = std::string("linears.") + k;
      expected = expected.mm(weights[linear + ".weight"].t()) + weights[linear + ".bias"];
      expected =
          at::relu(expected / std::sqrt(1.0 + 1e-5));  // fresh statistics: mean 0, variance 1
    }
    const at::Tensor got = body->forward(x, graph_of(adjacency));
    ASSERT_EQ(got.sizes(), expected.sizes());
    EXPECT_GT(expected.abs().max().item<double>(), 0.01);
    EXPECT_LT((got - expected).abs().max().item<double>(), 1e-10) << name_of(aggregator);
  }
}

}  // namespace
}  // namespace egc::models
