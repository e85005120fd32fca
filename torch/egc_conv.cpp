#include "egc/torch/egc_conv.h"

#include <torch/nn/init.h>

#include <numeric>

namespace egc::torch {
namespace {

void check_parameter_type(::torch::Dtype dtype) {
  check(dtype == at::kFloat || dtype == at::kDouble,
        "EgcConv: parameters are float32 or float64, {} is not supported", c10::toString(dtype));
}

}  // namespace

EdgeEncoderImpl::EdgeEncoderImpl(nn::EdgeSchema given, int64_t of_columns, bool loops)
    : schema(std::move(given)), columns(of_columns), has_loops(loops) {
  reset();
}

void EdgeEncoderImpl::reset() {
  const int64_t rows =
      std::accumulate(schema.categories.begin(), schema.categories.end(), int64_t{0});
  if (rows > 0) table = register_parameter("table", at::empty({rows, columns}));
  if (has_loops) self_edge = register_parameter("self_edge", at::empty({columns}));
  if (schema.numbers > 0)
    lin = register_module("lin", ::torch::nn::Linear(schema.numbers, columns));
  reset_parameters();
}

void EdgeEncoderImpl::reset_parameters() {
  const at::NoGradGuard no_grad;
  int64_t first = 0;
  for (const int64_t count : schema.categories) {
    ::torch::nn::init::xavier_uniform_(table.narrow(0, first, count));
    first += count;
  }
  if (self_edge.defined()) self_edge.zero_();
  if (lin) lin->reset_parameters();
}

EgcConvImpl::EgcConvImpl(nn::EgcConvOptions opts) : options(std::move(opts)) { reset(); }

void EgcConvImpl::reset() {
  const nn::EgcConv shapes(options);  // the engine's own layer checks the options
  const auto linear = [&](const nn::ParameterPtr& weight, bool with_bias) {
    return ::torch::nn::Linear(
        ::torch::nn::LinearOptions(options.in_channels, weight->shape[0]).bias(with_bias));
  };
  bases_lin = register_module("bases_lin", linear(shapes.bases_weight, false));
  comb_lin = register_module("comb_lin", linear(shapes.comb_weight, true));
  if (options.bias) bias = register_parameter("bias", at::empty(shapes.bias->shape));
  if (!options.edges.empty())
    edges = register_module("edges", EdgeEncoder(options.edges, shapes.bases_weight->shape[0],
                                                 options.self_loops != SelfLoops::kNone));
  reset_parameters();
}

void EgcConvImpl::reset_parameters() {
  const at::NoGradGuard no_grad;
  ::torch::nn::init::xavier_uniform_(bases_lin->weight);
  comb_lin->reset_parameters();
  if (bias.defined()) bias.zero_();
  if (edges) edges->reset_parameters();
}

void EgcConvImpl::pretty_print(std::ostream& stream) const {
  std::vector<std::string_view> names;
  for (const Aggregator a : options.aggregators) names.push_back(egc::name_of(a));
  stream << fmt::format(
      "egc::torch::EgcConv({}, {}, heads={}, bases={}, aggregators={}, self_loops={}, "
      "activation={}, bias={}{})",
      options.in_channels, options.out_channels, options.heads, options.bases,
      fmt::join(names, "+"), egc::name_of(options.self_loops), egc::name_of(options.activation),
      options.bias,
      options.edges.empty() ? "" : fmt::format(", edges={}", nn::describe(options.edges)));
}

void EgcConvImpl::to(::torch::Device device, ::torch::Dtype dtype, bool non_blocking) {
  check_parameter_type(dtype);
  Cloneable::to(device, dtype, non_blocking);
}

void EgcConvImpl::to(::torch::Dtype dtype, bool non_blocking) {
  check_parameter_type(dtype);
  Cloneable::to(dtype, non_blocking);
}

at::Tensor EgcConvImpl::forward(const at::Tensor& x, const Csr& graph) {
  EgcConvTensors t{bases_lin->weight, comb_lin->weight, comb_lin->bias, bias};
  if (edges) {
    t.edge_table = edges->table;
    t.self_edge = edges->self_edge;
    if (edges->lin) {
      t.edge_weight = edges->lin->weight;
      t.edge_bias = edges->lin->bias;
    }
  }
  return egc_conv(options, t, x, graph);
}

}  // namespace egc::torch
