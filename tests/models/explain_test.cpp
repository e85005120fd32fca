// What a network tells of itself is what it computes.
#include "egc/models/explain.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "egc/graph/topologies.h"
#include "egc/nn/egc_conv.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using testing::expect_error;

Csr small_graph() { return make_topology("arxiv-like", 0, 0.0005); }

TEST(Explain, OneTermIsTheOutput) {
  at::manual_seed(1);
  const Csr graph = small_graph();
  nn::EgcConvOptions o(5, 6);
  o.heads = o.bases = 1;
  o.bias = false;
  for (const Aggregator a : {Aggregator::kAdd, Aggregator::kStd, Aggregator::kMax}) {
    o.aggregators = {a};
    nn::EgcConv conv(o);
    const at::Tensor x = at::randn({graph.num_targets(), 5});
    const at::Tensor norms = conv->term_norms(x, graph);
    ASSERT_EQ(norms.sizes().vec(), (std::vector<int64_t>{graph.num_targets(), 1, 1, 1}));
    EXPECT_TRUE(at::allclose(norms.view({-1}), conv(x, graph).norm(2, {1}), 1e-4, 1e-5));
  }
}

TEST(Explain, TermsAreOrderedAsTheWeightsAre) {
  at::manual_seed(2);
  const Csr graph = small_graph();
  nn::EgcConvOptions o(5, 8);
  o.heads = 2;
  o.bases = 3;
  o.aggregators = {Aggregator::kAdd, Aggregator::kMax};
  o.bias = false;
  nn::EgcConv conv(o);
  const at::Tensor x = at::randn({graph.num_targets(), 5});
  const at::Tensor all = conv->term_norms(x, graph);
  // One weight alone: the output is that term.
  at::NoGradGuard no_grad;
  for (const int64_t h : {0, 1})
    for (const int64_t a : {0, 1})
      for (const int64_t b : {0, 1, 2}) {
        nn::EgcConv one(o);
        one->bases_weight.copy_(conv->bases_weight);
        one->comb_weight.zero_();
        one->comb_bias.zero_();
        const int64_t row = (h * 2 + a) * 3 + b;
        one->comb_weight[row].copy_(conv->comb_weight[row]);
        one->comb_bias[row].copy_(conv->comb_bias[row]);
        const at::Tensor expected = one(x, graph).norm(2, {1});
        EXPECT_TRUE(at::allclose(all.select(1, h).select(1, a).select(1, b), expected, 1e-4, 1e-5));
      }
}

TEST(Explain, TheGainOfAWaveIsWhatTheLayerMakesOfIt) {
  at::manual_seed(3);
  const Csr graph = small_graph();
  const int64_t n = graph.num_targets();
  models::ModelConfig c;
  c.task = Task::kNodeClassification;
  c.model = "egc";
  c.hidden = 8;
  c.layers = 1;
  c.outputs = 3;
  c.features = 4;
  c.heads = 2;
  c.bases = 2;
  c.encoder = models::Encoder::kNone;
  c.residual = false;
  c.norm = false;
  c.aggregators = AggregatorSet{Aggregator::kSymnorm, Aggregator::kMean, Aggregator::kMax};
  c.self_loops = SelfLoops::kSymnorm;
  const auto network = models::make_network(c);
  network->eval();
  models::ModelInput in;
  in.graph = graph;
  in.x = at::randn({n, 4});
  const auto [values, vectors] = models::graph_spectrum(graph);
  EXPECT_TRUE(values.min().item<double>() > -1e-9 && values.max().item<double>() < 2 + 1e-9);
  const auto layers = models::explain(*network, in, vectors.to(at::kFloat));
  ASSERT_EQ(layers.size(), 1U);
  const at::Tensor gain = layers[0].gain;
  ASSERT_EQ(gain.sizes().vec(), (std::vector<int64_t>{n, n}));
  // The layer with its weights w held fixed, on wave k in feature f: y_f[i]; the gain is the norm
  // over features and outputs.
  at::NoGradGuard no_grad;
  nn::EgcConvImpl* conv = nullptr;
  for (const auto& m : network->modules())
    if (auto* found = dynamic_cast<nn::EgcConvImpl*>(m.get())) conv = found;
  ASSERT_NE(conv, nullptr);
  const at::Tensor w = conv->combination(in.x);  // [N, 2, 3, 2]
  for (const int64_t k : {int64_t{0}, n / 2}) {
    at::Tensor square = at::zeros({n});
    for (int64_t f = 0; f < 4; ++f) {
      at::Tensor signal = at::zeros({n, 4});
      signal.select(1, f).copy_(vectors.select(1, k).to(at::kFloat));
      const at::Tensor bases = at::linear(signal, conv->bases_weight);  // [N, 2 * 4]
      for (int64_t h = 0; h < 2; ++h) {
        at::Tensor y = at::zeros({n, 4});
        for (int64_t i = 0; i < n; ++i) {
          const double degree = static_cast<double>(graph.offsets()[i + 1] - graph.offsets()[i]);
          const auto scale = graph.target_scale<float>(true);
          const auto add_source = [&](int64_t j, bool loop) {
            for (int64_t b = 0; b < 2; ++b) {
              const at::Tensor basis = bases[j].narrow(0, b * 4, 4);
              y[i] += w[i][h][0][b] * basis * (scale[i] * scale[j]);
              if (!loop && degree > 0) y[i] += w[i][h][1][b] * basis / degree;
            }
          };
          for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
            if (graph.sources()[e] != i) add_source(graph.sources()[e], false);
          add_source(i, true);
        }
        square += y.square().sum(1);
      }
    }
    EXPECT_TRUE(at::allclose(gain.select(1, k), square.sqrt(), 1e-3, 1e-5)) << k;
  }
  EXPECT_FALSE(graph.has_loops());
}

TEST(Explain, OtherNetworksAreRefused) {
  models::ModelConfig c;
  c.task = Task::kNodeClassification;
  c.model = "gcn";
  c.hidden = 4;
  c.layers = 1;
  c.outputs = 2;
  c.features = 3;
  const auto network = models::make_network(c);
  network->eval();
  models::ModelInput in;
  in.graph = small_graph();
  in.x = at::randn({in.graph.num_targets(), 3});
  expect_error(ErrorKind::kUsage, {"EGC", "gcn"}, [&] { models::explain(*network, in); });
}

}  // namespace
}  // namespace egc
