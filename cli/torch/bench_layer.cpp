#include <ATen/ATen.h>

#include "cli/measure.h"
#include "cli/torch/bench_spec.h"
#include "cli/torch/module.h"
#include "egc/engine/slice_layout.h"
#include "egc/engine/spmm.h"
#include "egc/graph/topologies.h"
#include "egc/nn/composed_layers.h"
#include "egc/ops/linear_pair.h"
#include "egc/ops/tensor_buffer.h"

namespace egc::cli {

LayerBenchResult bench_layer(const LayerBenchOptions& o) {
  at::manual_seed(o.seed);
  const nn::ConvSpec spec = bench_spec(o, o.hidden);
  const nn::EgcConvOptions options = nn::egc_options(o.model, spec);
  nn::EgcConv conv(options);
  const Csr graph = make_topology(o.topology, o.seed, o.scale);
  const int64_t nodes = graph.num_targets();
  const int64_t head_width = options.out_channels / options.heads;
  const SliceLayout layout = choose_slices(graph, options.bases, head_width, sizeof(float));
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
    const nn::ComposedLayer theirs = nn::compose_layer(o.model, spec, conv.ptr(), graph);
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
