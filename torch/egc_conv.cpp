#include "egc/torch/egc_conv.h"

#include <torch/nn/init.h>

namespace egc::torch {
namespace {

void check_parameter_type(::torch::Dtype dtype) {
  check(dtype == at::kFloat || dtype == at::kDouble,
        "EgcConv: parameters are float32 or float64, {} is not supported", c10::toString(dtype));
}

}  // namespace

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
  reset_parameters();
}

void EgcConvImpl::reset_parameters() {
  const at::NoGradGuard no_grad;
  ::torch::nn::init::xavier_uniform_(bases_lin->weight);
  comb_lin->reset_parameters();
  if (bias.defined()) bias.zero_();
}

void EgcConvImpl::pretty_print(std::ostream& stream) const {
  std::vector<std::string_view> names;
  for (const Aggregator a : options.aggregators) names.push_back(egc::name_of(a));
  stream << fmt::format(
      "egc::torch::EgcConv({}, {}, heads={}, bases={}, aggregators={}, self_loops={}, "
      "activation={}, bias={})",
      options.in_channels, options.out_channels, options.heads, options.bases,
      fmt::join(names, "+"), egc::name_of(options.self_loops), egc::name_of(options.activation),
      options.bias);
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
  return egc_conv(options, {bases_lin->weight, comb_lin->weight, comb_lin->bias, bias}, x, graph);
}

}  // namespace egc::torch
