// What a network tells of itself is what it computes.
#include "egc/models/explain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "egc/graph/topologies.h"
#include "egc/nn/egc_conv.h"
#include "tests/core/expect_error.h"
#include "tests/models/network_inputs.h"
#include "tests/tensor/tensors.h"

namespace egc {
namespace {

using testing::close;
using testing::expect_error;
using testing::random_tensor;

Csr small_graph() { return make_topology("arxiv-like", 0, 0.0005); }

void reset(nn::Module& module, uint64_t seed) {
  Rng rng(seed);
  module.reset_parameters(rng);
}

// The length of each row, [N, 1].
Tensor row_norms(const Tensor& t) {
  Tensor out = Tensor::empty(t.rows(), 1, DType::kF64);
  for (int64_t i = 0; i < t.rows(); ++i) {
    double square = 0;
    for (int64_t c = 0; c < t.columns(); ++c) square += t.item(i, c) * t.item(i, c);
    out.data<double>()[i] = std::sqrt(square);
  }
  return out;
}

Tensor column(const Tensor& t, int64_t c) {
  Tensor out = Tensor::empty(t.rows(), 1, DType::kF64);
  for (int64_t i = 0; i < t.rows(); ++i) out.data<double>()[i] = t.item(i, c);
  return out;
}

Tensor run(nn::EgcConv& conv, const Tensor& x, const Csr& graph) {
  Tape tape = Tape::inference();
  return conv.forward(tape, x, graph);
}

TEST(Explain, OneTermIsTheOutput) {
  const Csr graph = small_graph();
  nn::EgcConvOptions o(5, 6);
  o.heads = o.bases = 1;
  o.bias = false;
  for (const Aggregator a : {Aggregator::kAdd, Aggregator::kStd, Aggregator::kMax}) {
    o.aggregators = {a};
    nn::EgcConv conv(o);
    reset(conv, 1);
    for (const DType type : {DType::kF32, DType::kF64}) {
      conv.to(type);
      const Tensor x = random_tensor(graph.num_targets(), 5, 1, type);
      const Tensor norms = conv.term_norms(x, graph);
      ASSERT_EQ(norms.columns(), 1);
      EXPECT_TRUE(close(norms, row_norms(run(conv, x, graph)), type == DType::kF64 ? 1e-12 : 1e-5));
    }
  }
}

TEST(Explain, TermsAreOrderedAsTheWeightsAre) {
  const Csr graph = small_graph();
  nn::EgcConvOptions o(5, 8);
  o.heads = 2;
  o.bases = 3;
  o.aggregators = {Aggregator::kAdd, Aggregator::kMax};
  o.bias = false;
  nn::EgcConv conv(o);
  reset(conv, 2);
  conv.to(DType::kF64);
  const Tensor x = random_tensor(graph.num_targets(), 5, 2);
  const Tensor all = conv.term_norms(x, graph);
  ASSERT_EQ(all.columns(), 12);
  // One weight alone: the output is that term.
  for (int64_t row = 0; row < 12; ++row) {  // (h, a, b)
    nn::EgcConv one(o);
    one.to(DType::kF64);
    one.load_state(conv.state(), "test");
    for (int64_t k = 0; k < 12 * 5; ++k)
      if (k / 5 != row) one.comb_weight->value.data<double>()[k] = 0;
    for (int64_t k = 0; k < 12; ++k)
      if (k != row) one.comb_bias->value.data<double>()[k] = 0;
    EXPECT_TRUE(close(column(all, row), row_norms(run(one, x, graph)), 1e-12)) << row;
  }
}

TEST(Explain, TheGainOfAWaveIsWhatTheLayerMakesOfIt) {
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
  c.norm = models::Norm::kNone;
  c.aggregators = AggregatorSet{Aggregator::kSymnorm, Aggregator::kMean, Aggregator::kMax};
  c.self_loops = SelfLoops::kSymnorm;
  const auto network = testing::new_network(c, 3);
  network->to(DType::kF64);
  models::ModelInput in;
  in.graph = graph;
  in.x = random_tensor(n, 4, 3);
  const auto [values, vectors] = models::graph_spectrum(graph);
  const auto layers = models::explain(*network, in, vectors);
  ASSERT_EQ(layers.size(), 1U);
  const Tensor gain = layers[0].gain;
  ASSERT_EQ(gain.rows(), n);
  ASSERT_EQ(gain.columns(), n);
  // The layer with its weights w held fixed, on wave k in feature f: y_f[i]; the gain is the norm
  // over features and outputs.
  ASSERT_EQ(network->modules<nn::EgcConv>().size(), 1U);
  const nn::EgcConv& conv = *network->modules<nn::EgcConv>()[0];
  const Tensor w = conv.combination(in.x);        // [N, (2, 3, 2)]
  const Tensor theta = conv.bases_weight->value;  // [2 * 4, 4]
  const auto scale = graph.target_scale<double>(true);
  for (const int64_t k : {int64_t{0}, n / 2}) {
    Tensor expected = Tensor::zeros(n, 1, DType::kF64);
    for (int64_t i = 0; i < n; ++i) {
      const double degree = static_cast<double>(graph.offsets()[i + 1] - graph.offsets()[i]);
      double square = 0;
      for (int64_t f = 0; f < 4; ++f)
        for (int64_t h = 0; h < 2; ++h)
          for (int64_t l = 0; l < 4; ++l) {
            double y = 0;
            const auto add_source = [&](int64_t j, bool loop) {
              for (int64_t b = 0; b < 2; ++b) {
                const double basis = vectors.item(j, k) * theta.item(b * 4 + l, f);
                y += w.item(i, (h * 3 + 0) * 2 + b) * basis * scale[i] * scale[j];
                if (!loop) y += w.item(i, (h * 3 + 1) * 2 + b) * basis / degree;
              }
            };
            for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
              add_source(graph.sources()[e], false);
            add_source(i, true);
            square += y * y;
          }
      expected.data<double>()[i] = std::sqrt(square);
    }
    EXPECT_TRUE(close(column(gain, k), expected, 1e-10)) << k;
  }
  EXPECT_FALSE(graph.has_loops());
  EXPECT_FALSE(models::explain(*network, in)[0].gain.defined());
}

// L v = lambda v, with the eigenvectors at right angles, for a graph with directed and double
// edges, a loop and a node without any.
TEST(Explain, TheSpectrumIsTheLaplacians) {
  const Csr graph = Csr::from_edges(7, std::vector<int64_t>{0, 1, 2, 3, 1, 4, 0, 4, 0},
                                    std::vector<int64_t>{1, 2, 3, 1, 0, 4, 4, 5, 1});
  const int64_t n = graph.num_targets();
  std::vector<double> a(static_cast<size_t>(n * n), 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      a[i * n + graph.sources()[e]] = a[graph.sources()[e] * n + i] = 1;
  std::vector<double> degree(static_cast<size_t>(n), 0.0);
  for (int64_t k = 0; k < n * n; ++k) degree[k / n] += a[k];
  const auto [values, vectors] = models::graph_spectrum(graph);
  ASSERT_EQ(values.columns(), n);
  for (int64_t k = 0; k < n; ++k) {
    const double lambda = values.item(0, k);
    EXPECT_GT(lambda, -1e-12);
    EXPECT_LT(lambda, 2 + 1e-12);
    EXPECT_GE(lambda, k > 0 ? values.item(0, k - 1) : lambda);
    for (int64_t i = 0; i < n; ++i) {
      double product = vectors.item(i, k);
      for (int64_t j = 0; j < n; ++j)
        if (a[i * n + j] != 0) product -= vectors.item(j, k) / std::sqrt(degree[i] * degree[j]);
      EXPECT_NEAR(product, lambda * vectors.item(i, k), 1e-12);
    }
    for (int64_t other = 0; other < n; ++other) {
      double dot = 0;
      for (int64_t i = 0; i < n; ++i) dot += vectors.item(i, k) * vectors.item(i, other);
      EXPECT_NEAR(dot, k == other ? 1 : 0, 1e-12);
    }
  }
}

TEST(Explain, OtherNetworksAreRefused) {
  models::ModelConfig c;
  c.task = Task::kNodeClassification;
  c.model = "gcn";
  c.hidden = 4;
  c.layers = 1;
  c.outputs = 2;
  c.features = 3;
  const auto network = testing::new_network(c);
  models::ModelInput in;
  in.graph = small_graph();
  in.x = random_tensor(in.graph.num_targets(), 3, 1, DType::kF32);
  expect_error(ErrorKind::kUsage, {"EGC", "gcn"}, [&] { models::explain(*network, in); });
}

}  // namespace
}  // namespace egc
