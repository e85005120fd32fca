#include "egc/models/explain.h"

#include <ATen/ATen.h>

#include "egc/core/error.h"
#include "egc/models/homogeneous_network.h"
#include "egc/ops/fused_aggregate.h"

namespace egc::models {
namespace {

// y[i, h] = sum over b of c[i, h, b] Theta_b' f of a wave with features f, where c adds up the
// linear aggregators: its norm over heads and features, by the products of the Theta_b with each
// other.
at::Tensor gain_of(const nn::EgcConvImpl& conv, const at::Tensor& x, const Csr& graph,
                   const at::Tensor& waves) {
  const auto& o = conv.options;
  const at::Tensor w = conv.combination(x);
  at::Tensor c;  // [N, H, B, K]
  for (int a = 0; a < o.aggregators.size(); ++a) {
    const Aggregator aggregator = o.aggregators[a];
    if (aggregator != Aggregator::kAdd && aggregator != Aggregator::kMean &&
        aggregator != Aggregator::kSymnorm)
      continue;
    const at::Tensor filtered = ops::aggregate(graph, {aggregator}, o.self_loops, waves);
    const at::Tensor term = w.select(2, a).unsqueeze(-1) * filtered.unsqueeze(1).unsqueeze(1);
    c = c.defined() ? c + term : term;
  }
  if (!c.defined()) return {};
  const at::Tensor theta = conv.bases_weight.view({o.bases, -1});
  const at::Tensor gram = at::mm(theta, theta.t());
  return at::einsum("nhbk,bc,nhck->nk", {c, gram, c}).clamp_min(0).sqrt();
}

}  // namespace

std::pair<at::Tensor, at::Tensor> graph_spectrum(const Csr& graph) {
  const int64_t n = graph.num_targets();
  check(graph.is_square(), "a spectrum needs a square graph");
  at::Tensor adjacency = at::zeros({n, n}, at::kDouble);
  auto a = adjacency.accessor<double, 2>();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      a[i][graph.sources()[e]] = a[graph.sources()[e]][i] = 1;
  const at::Tensor scale = adjacency.sum(1).clamp_min(1).rsqrt();
  const at::Tensor laplacian =
      at::eye(n, at::kDouble) - scale.unsqueeze(1) * adjacency * scale.unsqueeze(0);
  auto [values, vectors] = at::linalg_eigh(laplacian);
  return {values, vectors};
}

std::vector<LayerTerms> explain(Network& network, const ModelInput& input,
                                const at::Tensor& waves) {
  auto* watched = dynamic_cast<HomogeneousNetwork*>(&network);
  std::vector<LayerTerms> out;
  const at::NoGradGuard no_grad;
  if (watched != nullptr) {
    watched->watch_layers([&](nn::Conv& conv, const at::Tensor& x, const Csr& graph) {
      const auto* egc = dynamic_cast<nn::EgcConvImpl*>(&conv);
      if (egc == nullptr) return;
      out.push_back({egc->options.aggregators, egc->term_norms(x, graph), {}});
      if (waves.defined()) out.back().gain = gain_of(*egc, x, graph, waves);
    });
    try {
      network.forward(input);
    } catch (...) {
      watched->watch_layers({});
      throw;
    }
    watched->watch_layers({});
  }
  check(!out.empty(), "only layers of EGC tell what carried their output; the network has {}",
        network.config().model);
  return out;
}

}  // namespace egc::models
