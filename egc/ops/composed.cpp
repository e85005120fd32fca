#include "egc/ops/composed.h"

#include <ATen/ATen.h>

#include "egc/core/error.h"

namespace egc::ops {
namespace {

using kernels::FusedShape;

// An edge list on the device of the data, with or without self-loops.
struct Edges {
  at::Tensor source;  // [E]
  at::Tensor target;  // [E]
  at::Tensor weight;  // [E, 1] or undefined
};

Edges edge_list(const Csr& graph, bool add_loops, const at::TensorOptions& values) {
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
  edges.source = at::tensor(source, at::kLong).to(values.device());
  edges.target = at::tensor(target, at::kLong).to(values.device());
  if (!weight.empty()) edges.weight = at::tensor(weight, at::kDouble).to(values).unsqueeze(1);
  return edges;
}

at::Tensor sum_over(const at::Tensor& messages, const at::Tensor& target, int64_t rows) {
  return at::zeros({rows, messages.size(1)}, messages.options()).index_add(0, target, messages);
}

// Reductions of messages [E, C] over their targets.
struct Segments {
  at::Tensor messages;
  at::Tensor target;
  int64_t rows;

  at::Tensor count() const {
    return sum_over(at::ones({target.size(0), 1}, messages.options()), target, rows).clamp_min(1);
  }
  at::Tensor sum() const { return sum_over(messages, target, rows); }
  at::Tensor mean() const { return sum() / count(); }
  at::Tensor extremum(const char* reduce) const {
    return at::zeros({rows, messages.size(1)}, messages.options())
        .scatter_reduce(0, target.unsqueeze(1).expand_as(messages), messages, reduce,
                        /*include_self=*/false);
  }
  // Two passes: deviations from the mean, not E[x^2] - E[x]^2.
  at::Tensor var() const {
    const at::Tensor deviation = messages - mean().index_select(0, target);
    return sum_over(deviation * deviation, target, rows) / count();
  }
};

at::Tensor scale_tensor(const std::vector<double>& scale, const at::TensorOptions& options) {
  return at::tensor(scale, at::kDouble).to(options).unsqueeze(1);
}

}  // namespace

at::Tensor composed_aggregate(const Csr& graph, const FusedShape& shape, const at::Tensor& bases,
                              const at::Tensor& weights, const c10::optional<at::Tensor>& bias) {
  const int64_t rows = graph.num_targets();
  const at::TensorOptions options = bases.options();
  const auto messages_of = [&](const Edges& e) {
    const at::Tensor x = bases.index_select(0, e.source);
    return e.weight.defined() ? x * e.weight : x;
  };
  const bool plain_loops = shape.self_loops == SelfLoops::kAll;
  const bool sym_loops = shape.self_loops != SelfLoops::kNone;
  const Edges edges = edge_list(graph, plain_loops, options);
  const Segments plain{messages_of(edges), edges.target, rows};

  std::vector<at::Tensor> parts;
  for (const Aggregator a : shape.aggregators) {
    switch (a) {
      case Aggregator::kAdd:
        parts.push_back(plain.sum());
        break;
      case Aggregator::kMean:
        parts.push_back(plain.mean());
        break;
      case Aggregator::kSymnorm: {
        const Edges e = sym_loops == plain_loops ? edges : edge_list(graph, sym_loops, options);
        const at::Tensor source = scale_tensor(graph.source_scale<double>(sym_loops), options);
        const at::Tensor target = scale_tensor(graph.target_scale<double>(sym_loops), options);
        const at::Tensor norm =
            source.index_select(0, e.source) * target.index_select(0, e.target);
        const at::Tensor messages = sym_loops == plain_loops ? plain.messages : messages_of(e);
        parts.push_back(sum_over(messages * norm, e.target, rows));
        break;
      }
      case Aggregator::kMax:
        parts.push_back(plain.extremum("amax"));
        break;
      case Aggregator::kMin:
        parts.push_back(plain.extremum("amin"));
        break;
      case Aggregator::kVar:
        parts.push_back(plain.var());
        break;
      case Aggregator::kStd:
        parts.push_back((plain.var() + kStdEpsilon).sqrt());
        break;
    }
  }
  // [N, H, A*B] times [N, A*B, L]
  const at::Tensor stacked = at::stack(parts, 1).view({rows, -1, shape.head_width});
  at::Tensor out = at::bmm(weights.view({rows, shape.heads, -1}), stacked)
                       .view({rows, shape.out_width()});
  return bias.has_value() && bias->defined() ? out + *bias : out;
}

}  // namespace egc::ops
