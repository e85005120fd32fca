#include "egc/nn/egc_conv.h"

#include <torch/nn/functional/activation.h>
#include <torch/nn/init.h>

#include <cmath>

#include "egc/core/named_table.h"
#include "egc/engine/slice_layout.h"
#include "egc/nn/group.h"
#include "egc/nn/parameter.h"
#include "egc/ops/fused_aggregate.h"
#include "egc/ops/linear_pair.h"

namespace egc::nn {
namespace {

const NamedTable<WeightActivation>& activations() {
  static const NamedTable<WeightActivation> table("activation",
                                                  {{"identity", WeightActivation::kIdentity},
                                                   {"softmax", WeightActivation::kSoftmax},
                                                   {"sigmoid", WeightActivation::kSigmoid},
                                                   {"hardtanh", WeightActivation::kHardtanh}});
  return table;
}

at::Tensor activate(const EgcConvOptions& o, const at::Tensor& w) {
  switch (o.activation) {
    case WeightActivation::kIdentity:
      return w;
    case WeightActivation::kSoftmax:  // over all bases and aggregators of a head
      return w.view({w.size(0), o.heads, -1}).softmax(-1).view_as(w);
    case WeightActivation::kSigmoid:
      return w.sigmoid();
    case WeightActivation::kHardtanh:
      return at::hardtanh(w);
  }
  return w;
}

}  // namespace

WeightActivation parse_weight_activation(std::string_view name) { return activations().at(name); }
std::string_view name_of(WeightActivation activation) { return activations().name_of(activation); }

EgcConvOptions EgcConvOptions::egc_m(int64_t in, int64_t out, AggregatorSet aggregators) {
  EgcConvOptions options(in, out);
  options.heads = options.bases = 4;
  options.aggregators = aggregators;
  return options;
}

EgcConvImpl::EgcConvImpl(EgcConvOptions opts) : options(std::move(opts)) { reset(); }

void EgcConvImpl::reset() {
  const EgcConvOptions& o = options;
  for (const int64_t n : {o.in_channels, o.out_channels, o.heads, o.bases})
    check(n >= 1 && n <= kMostChannels,
          "EgcConv: in_channels, out_channels, heads and bases must be from 1 to {}, got {}, {}, "
          "{}, {}",
          kMostChannels, o.in_channels, o.out_channels, o.heads, o.bases);
  check(o.out_channels % o.heads == 0,
        "EgcConv: out_channels must be divisible by heads, got {} and {}", o.out_channels, o.heads);
  const int64_t columns = o.bases * (o.out_channels / o.heads);
  const int64_t weights = o.heads * o.aggregators.size() * o.bases;
  const auto linear = [&](const char* name) {
    return register_module(name, std::make_shared<Group>());
  };
  const auto bases_lin = linear("bases_lin");
  const auto comb_lin = linear("comb_lin");
  bases_weight = bases_lin->register_parameter("weight", new_parameter({columns, o.in_channels}));
  comb_weight = comb_lin->register_parameter("weight", new_parameter({weights, o.in_channels}));
  comb_bias = comb_lin->register_parameter("bias", new_parameter({weights}));
  if (o.bias) bias = register_parameter("bias", new_parameter({o.out_channels}));
  reset_parameters();
}

void EgcConvImpl::reset_parameters() {
  torch::NoGradGuard no_grad;
  torch::nn::init::xavier_uniform_(bases_weight);
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.in_channels));
  comb_weight.uniform_(-bound, bound);
  comb_bias.uniform_(-bound, bound);
  if (bias.defined()) bias.zero_();
}

void EgcConvImpl::pretty_print(std::ostream& stream) const {
  std::vector<std::string_view> names;
  for (const Aggregator a : options.aggregators) names.push_back(egc::name_of(a));
  stream << fmt::format(
      "egc::nn::EgcConv({}, {}, heads={}, bases={}, aggregators={}, "
      "self_loops={}, activation={})",
      options.in_channels, options.out_channels, options.heads, options.bases,
      fmt::join(names, "+"), egc::name_of(options.self_loops), name_of(options.activation));
}

at::Tensor egc_conv(const EgcConvOptions& o, const EgcConvTensors& t, const at::Tensor& x,
                    const Csr& graph, const ops::EpilogueTensors& epilogue) {
  check_conv_input("EgcConv", x, graph, o.in_channels);
  const int64_t head_width = o.out_channels / o.heads;
  const kernels::FusedShape shape{o.aggregators, o.self_loops, o.heads, o.bases, head_width};
  if (!x.is_cpu()) {  // no kernels of ours there: everything is composed of ATen calls
    return ops::fused_aggregate(
        graph, shape, SliceLayout::row_major(o.bases, head_width), at::linear(x, t.bases_weight),
        activate(o, at::linear(x, t.comb_weight, t.comb_bias)), t.bias, epilogue);
  }
  const SliceLayout layout =
      choose_slices(graph, o.bases, head_width, static_cast<int64_t>(x.element_size()));
  const auto [bases, weights] =
      ops::linear_pair(x, t.bases_weight, t.comb_weight, t.comb_bias, layout);
  return ops::fused_aggregate(graph, shape, layout, bases, activate(o, weights), t.bias, epilogue);
}

at::Tensor EgcConvImpl::forward(const at::Tensor& x, const Csr& graph,
                                const ops::EpilogueTensors& epilogue) {
  return egc_conv(options, {bases_weight, comb_weight, comb_bias, bias}, x, graph, epilogue);
}

at::Tensor EgcConvImpl::combination(const at::Tensor& x) const {
  return activate(options, at::linear(x, comb_weight, comb_bias))
      .view({x.size(0), options.heads, options.aggregators.size(), options.bases});
}

at::Tensor EgcConvImpl::term_norms(const at::Tensor& x, const Csr& graph) const {
  check_conv_input("EgcConv", x, graph, options.in_channels);
  const int64_t nodes = graph.num_targets();
  const int64_t count = options.aggregators.size();
  const at::Tensor aggregates =
      ops::aggregate(graph, options.aggregators, options.self_loops, at::linear(x, bases_weight));
  const at::Tensor norms = aggregates.view({nodes, 1, count, options.bases, -1}).norm(2, {-1});
  return combination(x).abs().mul(norms);
}

}  // namespace egc::nn
