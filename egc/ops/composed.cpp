#include "egc/ops/composed.h"

#include <ATen/ATen.h>

namespace egc::ops {
namespace {

using Edges = ComposedGraph::Edges;

Edges edge_list(const Csr& graph, bool add_loops, const at::TensorOptions& options) {
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  std::vector<double> weight;
  const auto add = [&](int64_t j, int64_t i, double w) {
    source.push_back(j);
    target.push_back(i);
    if (!graph.weights().empty()) weight.push_back(w);
  };
  for (int64_t i = 0; i < graph.num_targets(); ++i) {
    if (add_loops) add(i, i, 1.0);
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      if (!(add_loops && graph.sources()[e] == i))
        add(graph.sources()[e], i, graph.weights().empty() ? 1.0 : double{graph.weights()[e]});
  }
  Edges edges;
  edges.source = at::tensor(source, at::kLong).to(options.device());
  edges.target = at::tensor(target, at::kLong).to(options.device());
  if (!weight.empty()) edges.weight = at::tensor(weight, at::kDouble).to(options).unsqueeze(1);
  return edges;
}

at::Tensor scale_tensor(const std::vector<double>& scale, const at::TensorOptions& options) {
  return at::tensor(scale, at::kDouble).to(options).unsqueeze(1);
}

at::Tensor messages_of(const at::Tensor& bases, const Edges& edges) {
  const at::Tensor x = bases.index_select(0, edges.source);
  return edges.weight.defined() ? x * edges.weight : x;
}

}  // namespace

at::Tensor sum_over(const at::Tensor& messages, const at::Tensor& target, int64_t rows) {
  // index_add, not scatter_add: half the time on CPU.
  return at::zeros({rows, messages.size(1)}, messages.options()).index_add(0, target, messages);
}

at::Tensor extremum_over(const at::Tensor& messages, const at::Tensor& target, int64_t rows,
                         const char* reduce) {
  return at::zeros({rows, messages.size(1)}, messages.options())
      .scatter_reduce(0, target.unsqueeze(1).expand_as(messages), messages, reduce,
                      /*include_self=*/false);
}

namespace {

// Two passes: deviations from the mean, not E[x^2] - E[x]^2.
at::Tensor variance(const at::Tensor& messages, const ComposedGraph& g) {
  const at::Tensor mean = sum_over(messages, g.plain.target, g.num_targets) / g.count;
  const at::Tensor deviation = messages - mean.index_select(0, g.plain.target);
  return sum_over(deviation * deviation, g.plain.target, g.num_targets) / g.count;
}

}  // namespace

ComposedGraph::ComposedGraph(const Csr& graph, const kernels::FusedShape& shape,
                             const at::TensorOptions& options)
    : num_targets(graph.num_targets()),
      plain(edge_list(graph, shape.self_loops == SelfLoops::kAll, options)) {
  count = sum_over(at::ones({plain.target.size(0), 1}, options), plain.target, num_targets)
              .clamp_min(1);
  if (!shape.aggregators.has(Aggregator::kSymnorm)) return;
  const bool loops = shape.self_loops != SelfLoops::kNone;
  sym = edge_list(graph, loops, options);
  const at::Tensor source = scale_tensor(graph.source_scale<double>(loops), options);
  const at::Tensor target = scale_tensor(graph.target_scale<double>(loops), options);
  const at::Tensor norm = source.index_select(0, sym.source) * target.index_select(0, sym.target);
  sym.weight = sym.weight.defined() ? sym.weight * norm : norm;
}

at::Tensor composed_aggregate(const ComposedGraph& g, const kernels::FusedShape& shape,
                              const at::Tensor& bases, const at::Tensor& weights,
                              const c10::optional<at::Tensor>& bias) {
  const int64_t rows = g.num_targets;
  at::Tensor messages;  // shared by all but symnorm
  for (const Aggregator a : shape.aggregators)
    if (a != Aggregator::kSymnorm && !messages.defined()) messages = messages_of(bases, g.plain);

  std::vector<at::Tensor> parts;
  for (const Aggregator a : shape.aggregators) {
    switch (a) {
      case Aggregator::kAdd:
        parts.push_back(sum_over(messages, g.plain.target, rows));
        break;
      case Aggregator::kMean:
        parts.push_back(sum_over(messages, g.plain.target, rows) / g.count);
        break;
      case Aggregator::kSymnorm:
        parts.push_back(sum_over(messages_of(bases, g.sym), g.sym.target, rows));
        break;
      case Aggregator::kMax:
        parts.push_back(extremum_over(messages, g.plain.target, rows, "amax"));
        break;
      case Aggregator::kMin:
        parts.push_back(extremum_over(messages, g.plain.target, rows, "amin"));
        break;
      case Aggregator::kVar:
        parts.push_back(variance(messages, g));
        break;
      case Aggregator::kStd:
        parts.push_back((variance(messages, g) + kStdEpsilon).sqrt());
        break;
    }
  }
  // [N, H, A*B] times [N, A*B, L]
  const at::Tensor stacked = at::stack(parts, 1).view({rows, -1, shape.head_width});
  const at::Tensor out =
      at::bmm(weights.view({rows, shape.heads, -1}), stacked).view({rows, shape.out_width()});
  return bias.has_value() && bias->defined() ? out + *bias : out;
}

}  // namespace egc::ops
