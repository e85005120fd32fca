#include "egc/models/explain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "egc/core/error.h"
#include "egc/core/symmetric_spectrum.h"
#include "egc/models/homogeneous_network.h"
#include "egc/ops/aggregate.h"
#include "egc/ops/for_each_row.h"

namespace egc::models {
namespace {

bool is_linear(Aggregator a) {
  return a == Aggregator::kAdd || a == Aggregator::kMean || a == Aggregator::kSymnorm;
}

// The products of the bases' matrices with each other, [B, B].
std::vector<double> gram_of(const nn::EgcConv& conv) {
  const int64_t bases = conv.options.bases;
  const Tensor theta = conv.bases_weight->value.to(DType::kF64);
  const int64_t size = theta.size() / bases;
  std::vector<double> gram(static_cast<size_t>(bases * bases));
  for (int64_t b = 0; b < bases; ++b)
    for (int64_t c = 0; c < bases; ++c)
      gram[b * bases + c] =
          std::inner_product(theta.data<double>() + b * size, theta.data<double>() + (b + 1) * size,
                             theta.data<double>() + c * size, 0.0);
  return gram;
}

// y[i, h] = sum over b of c[i, h, b] Theta_b' f of a wave with features f, where c adds up the
// linear aggregators: its norm over heads and features, by the products of the Theta_b with each
// other.
Tensor gain_of(const nn::EgcConv& conv, const Tensor& x, const Csr& graph, const Tensor& waves) {
  const auto& o = conv.options;
  const int64_t terms = o.aggregators.size() * o.bases;
  const Tensor w = conv.combination(x).to(DType::kF64);
  std::vector<std::pair<int, Tensor>> filtered;
  for (int a = 0; a < o.aggregators.size(); ++a) {
    if (!is_linear(o.aggregators[a])) continue;
    Tape tape = Tape::inference();
    filtered.emplace_back(
        a, ops::aggregate(tape, graph, {o.aggregators[a]}, o.self_loops, waves.to(DType::kF64)));
  }
  if (filtered.empty()) return {};
  const std::vector<double> gram = gram_of(conv);
  const Tensor gain = Tensor::empty(x.rows(), waves.columns(), DType::kF64);
  ops::for_each_row(x.rows(), [&](int64_t i) {
    std::vector<double> c(static_cast<size_t>(o.bases));
    for (int64_t k = 0; k < waves.columns(); ++k) {
      double square = 0;
      for (int64_t h = 0; h < o.heads; ++h) {
        std::fill(c.begin(), c.end(), 0.0);
        for (const auto& [a, wave] : filtered)
          for (int64_t b = 0; b < o.bases; ++b)
            c[b] += w.data<double>()[(i * o.heads + h) * terms + a * o.bases + b] *
                    wave.data<double>()[i * waves.columns() + k];
        for (int64_t b = 0; b < o.bases; ++b)
          for (int64_t d = 0; d < o.bases; ++d) square += c[b] * gram[b * o.bases + d] * c[d];
      }
      gain.data<double>()[i * waves.columns() + k] = std::sqrt(std::max(square, 0.0));
    }
  });
  return gain;
}

std::vector<double> laplacian_of(const Csr& graph) {
  const int64_t n = graph.num_targets();
  std::vector<double> a(static_cast<size_t>(n * n), 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      const int64_t j = graph.sources()[e];
      a[i * n + j] = a[j * n + i] = 1;
    }
  std::vector<double> scale(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    scale[i] = 1 / std::sqrt(std::max(1.0, std::accumulate(&a[i * n], &a[i * n] + n, 0.0)));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      a[i * n + j] = (i == j ? 1 : 0) - scale[i] * a[i * n + j] * scale[j];
  return a;
}

}  // namespace

std::pair<Tensor, Tensor> graph_spectrum(const Csr& graph) {
  check(graph.is_square(), "a spectrum needs a square graph");
  const int64_t n = graph.num_targets();
  const Spectrum spectrum = symmetric_spectrum(laplacian_of(graph), n);
  const Tensor values = Tensor::empty(1, n, DType::kF64);
  const Tensor vectors = Tensor::empty(n, n, DType::kF64);
  std::copy(spectrum.values.begin(), spectrum.values.end(), values.data<double>());
  std::copy(spectrum.vectors.begin(), spectrum.vectors.end(), vectors.data<double>());
  return {values, vectors};
}

std::vector<LayerTerms> explain(Network& network, const ModelInput& input, const Tensor& waves) {
  auto* hooked = dynamic_cast<HomogeneousNetwork*>(&network);
  std::vector<LayerTerms> out;
  if (hooked != nullptr) {
    struct HookGuard {
      HomogeneousNetwork& network;
      ~HookGuard() { network.hook_layers({}); }
    } const guard{*hooked};
    hooked->hook_layers([&](nn::Conv& conv, const Tensor& x, const Csr& graph) {
      const auto* egc = dynamic_cast<nn::EgcConv*>(&conv);
      if (egc == nullptr) return;
      const nn::EgcConvOptions& o = egc->options;
      out.push_back({o.aggregators, o.heads, o.bases, egc->term_norms(x, graph), {}});
      if (waves.defined()) out.back().gain = gain_of(*egc, x, graph, waves);
    });
    Tape tape = Tape::inference();
    network.forward(tape, input);
  }
  check(!out.empty(), "egc explain supports networks of EGC layers only; this one has {} layers",
        network.config().model);
  return out;
}

}  // namespace egc::models
