#include <ATen/ATen.h>

#include "cli/measure.h"
#include "cli/torch/module.h"
#include "egc/core/error.h"
#include "egc/engine/slice_layout.h"
#include "egc/engine/spmm.h"
#include "egc/graph/topologies.h"
#include "egc/nn/egc_conv.h"
#include "egc/ops/composed.h"
#include "egc/ops/linear_pair.h"
#include "egc/ops/tensor_buffer.h"

namespace egc::cli {
namespace {

nn::EgcConvOptions conv_options(const LayerBenchOptions& o) {
  const bool small = o.model == "egc-s";
  const int64_t hidden = o.hidden > 0 ? o.hidden : small ? 184 : 136;
  nn::EgcConvOptions c =
      small ? nn::EgcConvOptions::egc_s(hidden, hidden)
            : nn::EgcConvOptions::egc_m(
                  hidden, hidden, {Aggregator::kSymnorm, Aggregator::kMax, Aggregator::kMean});
  if (o.heads > 0) c.heads = o.heads;
  if (o.bases > 0) c.bases = o.bases;
  if (!o.aggregators.empty()) c.aggregators = parse_aggregators(o.aggregators);
  c.self_loops = parse_self_loops(o.self_loops);
  c.activation = nn::parse_weight_activation(o.activation);
  check(o.activation == "identity" || !o.aten,
        "bench layer: the ATen contestant has activation \"identity\" only; add --no-aten");
  return c;
}

// The layer as a LibTorch user would compose it.
at::Tensor composed_layer(nn::EgcConv& conv, const ops::ComposedGraph& graph,
                          const kernels::FusedShape& shape, const at::Tensor& x) {
  const at::Tensor bases = at::linear(x, conv->bases_weight);
  const at::Tensor weights = at::linear(x, conv->comb_weight, conv->comb_bias);
  return ops::composed_aggregate(graph, shape, bases, weights, conv->bias);
}

}  // namespace

LayerBenchResult bench_layer(const LayerBenchOptions& o) {
  at::manual_seed(o.seed);
  const nn::EgcConvOptions options = conv_options(o);
  nn::EgcConv conv(options);
  const Csr graph = make_topology(o.topology, o.seed, o.scale);
  const int64_t nodes = graph.num_targets();
  const int64_t head_width = options.out_channels / options.heads;
  const kernels::FusedShape shape{options.aggregators, options.self_loops, options.heads,
                                  options.bases, head_width};
  const SliceLayout layout = choose_slices(graph, options.bases, head_width, sizeof(float));
  const ops::ComposedGraph edges(graph, shape, at::kFloat);
  const at::Tensor x = at::randn({nodes, options.in_channels});
  const at::Tensor x_grad = x.clone().requires_grad_();
  const at::Tensor upstream = at::randn({nodes, options.out_channels});
  graph.transposed();  // made once for a graph, not once a step

  const auto infer = [&](auto&& layer) {
    return [&, layer] {
      at::NoGradGuard no_grad;
      layer(x);
    };
  };
  const auto train = [&](auto&& layer) {
    return [&, layer] {
      conv->zero_grad();
      x_grad.mutable_grad() = at::Tensor();
      layer(x_grad).backward(upstream);
    };
  };
  const auto ours = [&](const at::Tensor& in) { return conv->forward(in, graph); };
  const auto theirs = [&](const at::Tensor& in) { return composed_layer(conv, edges, shape, in); };
  const at::Tensor bases = ops::empty_buffer({nodes, layout.columns()}, at::kFloat);
  bases.normal_();
  const at::Tensor sums = ops::empty_buffer({nodes, layout.columns()}, at::kFloat);

  struct Case {
    const char* implementation;
    const char* mode;
    std::function<void()> run;
  };
  std::vector<Case> cases = {
      {"egc", "infer", infer(ours)},
      {"egc", "train", train(ours)},
      {"gemm", "infer",
       [&] {
         at::NoGradGuard no_grad;
         ops::linear_pair(x, conv->bases_weight, conv->comb_weight, conv->comb_bias, layout);
       }},
      {"spmm", "infer",
       [&] { spmm(graph, layout, bases.data_ptr<float>(), sums.data_ptr<float>()); }}};
  if (o.aten) {
    cases.push_back({"aten", "infer", infer(theirs)});
    cases.push_back({"aten", "train", train(theirs)});
  }
  std::vector<Contestant> contestants;
  for (const Case& c : cases) contestants.push_back({c.implementation, c.run});
  const std::vector<Timing> timings = measure(contestants, o.reps);

  LayerBenchResult result;
  result.nodes = nodes;
  result.edges = graph.num_edges();
  std::ostringstream description;
  conv->pretty_print(description);
  result.description = description.str();
  result.output_and_bases_mb =
      static_cast<double>(nodes * (options.out_channels + layout.columns()) * sizeof(float)) * 1e-6;
  for (size_t k = 0; k < cases.size(); ++k) {
    conv->zero_grad();
    x_grad.mutable_grad() = at::Tensor();
    result.rows.push_back({cases[k].implementation, cases[k].mode, timings[k].median_ms,
                           timings[k].min_ms, timings[k].p90_ms, timings[k].reps,
                           peak_extra_mb(cases[k].run)});
  }
  return result;
}

}  // namespace egc::cli
