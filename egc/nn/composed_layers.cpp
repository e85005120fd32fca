#include "egc/nn/composed_layers.h"

#include <ATen/ATen.h>

#include "egc/core/named_table.h"
#include "egc/nn/pna_conv.h"
#include "egc/ops/attention.h"
#include "egc/ops/composed.h"

namespace egc::nn {
namespace {

// What a composition works with.
struct Parts {
  ConvSpec spec;
  torch::OrderedDict<std::string, at::Tensor> parameters;
  ops::ComposedGraph graph;

  const at::Tensor& operator[](const std::string& name) const { return parameters[name]; }
  const at::Tensor& source() const { return graph.plain.source; }
  const at::Tensor& target() const { return graph.plain.target; }

  at::Tensor linear(const std::string& name, const at::Tensor& x) const {
    const at::Tensor* bias = parameters.find(name + ".bias");
    return at::linear(x, parameters[name + ".weight"], bias != nullptr ? *bias : at::Tensor());
  }
  // x: [R, T, in], a Linear "<name>.<t><suffix>" for each tower.   Result: [R, T, out].
  at::Tensor towers(const std::string& name, const char* suffix, const at::Tensor& x) const {
    std::vector<at::Tensor> out;
    for (int64_t t = 0; t < spec.towers; ++t)
      out.push_back(linear(name + "." + std::to_string(t) + suffix, x.select(1, t)));
    return at::stack(out, 1);
  }
  at::Tensor sum(const at::Tensor& messages) const {
    return ops::sum_over(messages, target(), graph.num_targets);
  }
  at::Tensor extremum(const at::Tensor& messages, const char* reduce) const {
    return ops::extremum_over(messages, target(), graph.num_targets, reduce);
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

at::Tensor activated(const at::Tensor& x) {
  return at::leaky_relu(x, ops::AttentionShape().negative_slope);
}

at::Tensor gat(const Parts& p, const at::Tensor& x) {
  const at::Tensor values = p.linear("lin_src", x).view({x.size(0), p["att_src"].size(1), -1});
  const at::Tensor of_source = (values * p["att_src"]).sum(2);
  const at::Tensor of_target = (values * p["att_dst"]).sum(2);
  const at::Tensor sums =
      of_source.index_select(0, p.source()) + of_target.index_select(0, p.target());
  return attend(p, activated(sums), values);
}

at::Tensor gatv2(const Parts& p, const at::Tensor& x) {
  const at::Tensor values = p.linear("lin_l", x).view({x.size(0), p["att"].size(1), -1});
  const at::Tensor query = p.linear("lin_r", x).view_as(values);
  const at::Tensor sums = values.index_select(0, p.source()) + query.index_select(0, p.target());
  return attend(p, (activated(sums) * p["att"]).sum(2), values);
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
  const at::Tensor variance = p.sum(messages * messages) / p.graph.count - mean * mean;
  const at::Tensor deviation = variance.clamp_min(PnaConvImpl::kLeastVariance)
                                   .sqrt()
                                   .masked_fill(variance <= PnaConvImpl::kLeastVariance, 0);
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

using Composer = ComposedLayer (*)(const ConvSpec&, const std::shared_ptr<Conv>&, const Csr&);

template <at::Tensor (*kLayer)(const Parts&, const at::Tensor&), SelfLoops kSelfLoops>
ComposedLayer messages(const ConvSpec& spec, const std::shared_ptr<Conv>& conv, const Csr& graph) {
  check(graph.weights().empty(), "a composed layer of messages between two ends takes no weights");
  const auto parameters = as_module(conv)->named_parameters();
  const kernels::FusedShape shape{{Aggregator::kAdd}, kSelfLoops};
  const Parts parts{spec, parameters,
                    ops::ComposedGraph(graph, shape, parameters.front().value().options())};
  return [=](const at::Tensor& x) { return kLayer(parts, x); };
}

ComposedLayer egc(const ConvSpec&, const std::shared_ptr<Conv>& layer, const Csr& graph) {
  const auto conv = std::dynamic_pointer_cast<EgcConvImpl>(layer);
  const EgcConvOptions& o = conv->options;
  const kernels::FusedShape shape{o.aggregators, o.self_loops, o.heads, o.bases,
                                  o.out_channels / o.heads};
  const ops::ComposedGraph edges(graph, shape, conv->bases_weight.options());
  return [=](const at::Tensor& x) {
    return ops::composed_aggregate(edges, shape, at::linear(x, conv->bases_weight),
                                   conv->combination(x).flatten(1), conv->bias);
  };
}

const NamedTable<Composer>& composers() {
  static const NamedTable<Composer> layers("composed layer",
                                           {{"gat", &messages<&gat, SelfLoops::kAll>},
                                            {"gatv2", &messages<&gatv2, SelfLoops::kAll>},
                                            {"mpnn-sum", &messages<&mpnn<false>, SelfLoops::kNone>},
                                            {"mpnn-max", &messages<&mpnn<true>, SelfLoops::kNone>},
                                            {"pna", &messages<&pna, SelfLoops::kNone>},
                                            {"egc-s", &egc},
                                            {"egc-m", &egc},
                                            {"egc", &egc}});
  return layers;
}

}  // namespace

ComposedLayer compose_layer(std::string_view name, const ConvSpec& spec,
                            const std::shared_ptr<Conv>& conv, const Csr& graph) {
  const Composer compose = composers().at(name);
  check(graph.is_square(), "{}: a composed layer needs a graph between the same nodes", name);
  return compose(spec, conv, graph);
}

std::vector<std::string_view> composed_layer_names() { return composers().names(); }

}  // namespace egc::nn
