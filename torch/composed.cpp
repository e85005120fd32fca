#include "egc/torch/composed.h"

#include <ATen/ATen.h>

#include "egc/core/named_table.h"
#include "egc/nn/towers.h"
#include "egc/ops/attention.h"
#include "egc/torch/autograd.h"

namespace egc::torch {
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

// messages: [E, C].   target: [E].   Results: [rows, C], 0 for a row without messages.
at::Tensor sum_over(const at::Tensor& messages, const at::Tensor& target, int64_t rows) {
  // index_add, not scatter_add: half the time on CPU.
  return at::zeros({rows, messages.size(1)}, messages.options()).index_add(0, target, messages);
}

// reduce: amax or amin.
at::Tensor extremum_over(const at::Tensor& messages, const at::Tensor& target, int64_t rows,
                         const char* reduce) {
  return at::zeros({rows, messages.size(1)}, messages.options())
      .scatter_reduce(0, target.unsqueeze(1).expand_as(messages), messages, reduce,
                      /*include_self=*/false);
}

at::Tensor messages_of(const at::Tensor& bases, const Edges& edges) {
  const at::Tensor x = bases.index_select(0, edges.source);
  return edges.weight.defined() ? x * edges.weight : x;
}

// Two passes: deviations from the mean, not E[x^2] - E[x]^2.
at::Tensor variance(const at::Tensor& messages, const ComposedGraph& g) {
  const at::Tensor mean = sum_over(messages, g.plain.target, g.num_targets) / g.count;
  const at::Tensor deviation = messages - mean.index_select(0, g.plain.target);
  return sum_over(deviation * deviation, g.plain.target, g.num_targets) / g.count;
}

at::Tensor activate(const nn::EgcConvOptions& o, const at::Tensor& w) {
  switch (o.activation) {
    case WeightActivation::kIdentity:
      return w;
    case WeightActivation::kSoftmax:  // over all bases and aggregators of a head
      return w.view({w.size(0), o.heads, o.aggregators.size() * o.bases}).softmax(-1).view_as(w);
    case WeightActivation::kSigmoid:
      return w.sigmoid();
    case WeightActivation::kHardtanh:
      return at::hardtanh(w);
  }
  return w;
}

ops::EgcShape shape_of(const nn::EgcConvOptions& o) {
  return {o.aggregators, o.self_loops, o.heads, o.bases};
}

}  // namespace

ComposedGraph::ComposedGraph(const Csr& graph, const AggregatorSet& aggregators,
                             SelfLoops self_loops, const at::TensorOptions& options)
    : num_targets(graph.num_targets()),
      plain(edge_list(graph, self_loops == SelfLoops::kAll, options)) {
  check(graph.is_square(), "a composed layer needs a graph between the same nodes");
  count = sum_over(at::ones({plain.target.size(0), 1}, options), plain.target, num_targets)
              .clamp_min(1);
  if (!aggregators.has(Aggregator::kSymnorm)) return;
  const bool loops = self_loops != SelfLoops::kNone;
  sym = edge_list(graph, loops, options);
  const at::Tensor source = scale_tensor(graph.source_scale<double>(loops), options);
  const at::Tensor target = scale_tensor(graph.target_scale<double>(loops), options);
  const at::Tensor norm = source.index_select(0, sym.source) * target.index_select(0, sym.target);
  sym.weight = sym.weight.defined() ? sym.weight * norm : norm;
}

at::Tensor composed_aggregate(const ComposedGraph& g, const ops::EgcShape& shape,
                              const at::Tensor& bases, const at::Tensor& weights,
                              const at::Tensor& bias) {
  check(bases.dim() == 2 && bases.size(1) % shape.bases == 0,
        "composed_aggregate: bases must be [N, {} * L], got {}", shape.bases, describe(bases));
  const int64_t rows = g.num_targets;
  const int64_t width = bases.size(1) / shape.bases;
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
  const int64_t terms = shape.aggregators.size() * shape.bases;
  const at::Tensor stacked = at::stack(parts, 1).view({rows, terms, width});
  const at::Tensor out = at::bmm(weights.reshape({rows, shape.heads, terms}), stacked)
                             .view({rows, shape.heads * width});
  return bias.defined() ? out + bias : out;
}

at::Tensor composed_aggregate(const Csr& graph, const ops::EgcShape& shape, const at::Tensor& bases,
                              const at::Tensor& weights, const at::Tensor& bias) {
  const ComposedGraph edges(graph, shape.aggregators, shape.self_loops, bases.options());
  return composed_aggregate(edges, shape, bases, weights, bias);
}

at::Tensor composed_egc(const nn::EgcConvOptions& options, const EgcConvTensors& t,
                        const at::Tensor& x, const ComposedGraph& graph) {
  check(options.edges.empty(),
        "composed_egc: features of edges are not supported; egc_conv takes them on the CPU");
  return composed_aggregate(graph, shape_of(options), at::linear(x, t.bases_weight),
                            activate(options, at::linear(x, t.comb_weight, t.comb_bias)), t.bias);
}

at::Tensor composed_egc(const nn::EgcConvOptions& options, const EgcConvTensors& t,
                        const at::Tensor& x, const Csr& graph) {
  const ComposedGraph edges(graph, options.aggregators, options.self_loops, x.options());
  return composed_egc(options, t, x, edges);
}

namespace {

// What a composition works with.
struct Parts {
  nn::ConvSpec spec;
  std::map<std::string, at::Tensor> parameters;
  ComposedGraph graph;

  const at::Tensor& operator[](const std::string& name) const { return parameters.at(name); }
  at::Tensor find(const std::string& name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? at::Tensor() : found->second;
  }
  const at::Tensor& source() const { return graph.plain.source; }
  const at::Tensor& target() const { return graph.plain.target; }

  at::Tensor linear(const std::string& name, const at::Tensor& x) const {
    return at::linear(x, (*this)[name + ".weight"], find(name + ".bias"));
  }
  // x: [R, T, in], a Linear "<name>.<t><suffix>" for each tower.   Result: [R, T, out].
  at::Tensor towers(const std::string& name, const char* suffix, const at::Tensor& x) const {
    std::vector<at::Tensor> out;
    for (int64_t t = 0; t < spec.towers; ++t)
      out.push_back(linear(name + "." + std::to_string(t) + suffix, x.select(1, t)));
    return at::stack(out, 1);
  }
  at::Tensor sum(const at::Tensor& messages) const {
    return sum_over(messages, target(), graph.num_targets);
  }
  at::Tensor extremum(const at::Tensor& messages, const char* reduce) const {
    return extremum_over(messages, target(), graph.num_targets, reduce);
  }
};

// scores: [E, H].   values: [N, H, C].
at::Tensor attend(const Parts& p, const at::Tensor& scores, const at::Tensor& values) {
  const at::Tensor greatest = p.extremum(scores.detach(), "amax").index_select(0, p.target());
  const at::Tensor e = (scores - greatest).exp();
  const at::Tensor alpha = e / p.sum(e).index_select(0, p.target());
  const at::Tensor messages = values.index_select(0, p.source()) * alpha.unsqueeze(2);
  return p.sum(messages.flatten(1)) + p["bias"];
}

at::Tensor leaky(const at::Tensor& x) {
  return at::leaky_relu(x, ops::AttentionShape().negative_slope);
}

at::Tensor gat(const Parts& p, const at::Tensor& x) {
  const at::Tensor values = p.linear("lin_src", x).view({x.size(0), p["att_src"].size(1), -1});
  const at::Tensor of_source = (values * p["att_src"]).sum(2);
  const at::Tensor of_target = (values * p["att_dst"]).sum(2);
  const at::Tensor sums =
      of_source.index_select(0, p.source()) + of_target.index_select(0, p.target());
  return attend(p, leaky(sums), values);
}

at::Tensor gatv2(const Parts& p, const at::Tensor& x) {
  const at::Tensor values = p.linear("lin_l", x).view({x.size(0), p["att"].size(1), -1});
  const at::Tensor query = p.linear("lin_r", x).view_as(values);
  const at::Tensor sums = values.index_select(0, p.source()) + query.index_select(0, p.target());
  return attend(p, (leaky(sums) * p["att"]).sum(2), values);
}

// [x_i || x_j] of every edge, in towers: [E, T, 2 * in].   x: [N, T, in].
at::Tensor both_ends(const Parts& p, const at::Tensor& x) {
  return at::cat({x.index_select(0, p.target()), x.index_select(0, p.source())}, 2);
}

at::Tensor in_towers(const Parts& p, const at::Tensor& x) {
  return x.view({x.size(0), p.spec.towers, -1});
}

template <bool kMax>
at::Tensor mpnn(const Parts& p, const at::Tensor& x) {
  const at::Tensor nodes = in_towers(p, x);
  const at::Tensor messages = p.towers("message_layer", "", both_ends(p, nodes)).flatten(1);
  const at::Tensor aggregate = kMax ? p.extremum(messages, "amax") : p.sum(messages);
  const at::Tensor updated =
      p.towers("update_layer", "", at::cat({in_towers(p, aggregate), nodes}, 2));
  return p.linear("lin", updated.flatten(1));
}

at::Tensor pna(const Parts& p, const at::Tensor& x) {
  const at::Tensor nodes = in_towers(p, x);
  const at::Tensor messages = p.towers("pre_nns", ".0", both_ends(p, nodes)).flatten(1);
  const at::Tensor mean = p.sum(messages) / p.graph.count;
  const at::Tensor var = p.sum(messages * messages) / p.graph.count - mean * mean;
  constexpr double kMin = nn::PnaConv::kMinVariance;
  const at::Tensor deviation = var.clamp_min(kMin).sqrt().masked_fill(var <= kMin, 0);
  const at::Tensor aggregates =
      at::cat({in_towers(p, mean), in_towers(p, p.extremum(messages, "amin")),
               in_towers(p, p.extremum(messages, "amax")), in_towers(p, deviation)},
              2);
  // A node without edges counts 0 in one scaler and 1 in the other, as in PyTorch Geometric.
  const at::Tensor degree = p.sum(at::ones({messages.size(0), 1}, x.options())).unsqueeze(2);
  const at::Tensor amplification = (degree + 1).log() / p.spec.mean_log_degree;
  const at::Tensor attenuation = p.spec.mean_log_degree / (p.graph.count.unsqueeze(2) + 1).log();
  const at::Tensor scaled =
      at::cat({nodes, aggregates, aggregates * amplification, aggregates * attenuation}, 2);
  return p.linear("lin", p.towers("post_nns", ".0", scaled).flatten(1));
}

using Composer = std::function<at::Tensor(const at::Tensor&)> (*)(std::string_view,
                                                                  const nn::ConvSpec&, const Csr&,
                                                                  ComposedLayer&);

template <at::Tensor (*kLayer)(const Parts&, const at::Tensor&), SelfLoops kSelfLoops>
std::function<at::Tensor(const at::Tensor&)> messages(std::string_view name,
                                                      const nn::ConvSpec& spec, const Csr& graph,
                                                      ComposedLayer& layer) {
  check(graph.weights().empty(), "{}: messages between two ends take no edge weights", name);
  const at::TensorOptions options = layer.parameters.begin()->second.options();
  const Parts parts{spec, layer.parameters,
                    ComposedGraph(graph, {Aggregator::kAdd}, kSelfLoops, options)};
  return [parts](const at::Tensor& x) { return kLayer(parts, x); };
}

std::function<at::Tensor(const at::Tensor&)> composed(std::string_view name,
                                                      const nn::ConvSpec& spec, const Csr& graph,
                                                      ComposedLayer& layer) {
  const nn::EgcConvOptions options = nn::egc_options(name, spec);
  const EgcConvTensors tensors{layer.parameters.at("bases_lin.weight"),
                               layer.parameters.at("comb_lin.weight"),
                               layer.parameters.at("comb_lin.bias"), layer.parameters.at("bias")};
  const ComposedGraph edges(graph, options.aggregators, options.self_loops, tensors.bias.options());
  return [=](const at::Tensor& x) { return composed_egc(options, tensors, x, edges); };
}

const NamedTable<Composer>& composers() {
  static const NamedTable<Composer> layers("composed layer",
                                           {{"gat", &messages<&gat, SelfLoops::kAll>},
                                            {"gatv2", &messages<&gatv2, SelfLoops::kAll>},
                                            {"mpnn-sum", &messages<&mpnn<false>, SelfLoops::kNone>},
                                            {"mpnn-max", &messages<&mpnn<true>, SelfLoops::kNone>},
                                            {"pna", &messages<&pna, SelfLoops::kNone>},
                                            {"egc-s", &composed},
                                            {"egc-m", &composed},
                                            {"egc", &composed}});
  return layers;
}

}  // namespace

ComposedLayer compose_layer(std::string_view name, const nn::ConvSpec& spec, const nn::Conv& conv,
                            const Csr& graph) {
  const Composer compose = composers().at(name);
  check(spec.edges.empty(), "compose_layer: {} with features of edges is not supported", name);
  ComposedLayer layer;
  for (const auto& [parameter, p] : conv.named_parameters())
    layer.parameters[parameter] = to_torch(p->value.clone()).view(p->shape).requires_grad_();
  layer.forward = compose(name, spec, graph, layer);
  return layer;
}

std::vector<std::string_view> composed_layer_names() { return composers().names(); }

}  // namespace egc::torch
