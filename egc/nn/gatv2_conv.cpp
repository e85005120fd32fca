#include "egc/nn/gatv2_conv.h"

#include <torch/nn/init.h>

#include "egc/nn/parameter.h"

namespace egc::nn {

Gatv2ConvImpl::Gatv2ConvImpl(int64_t in_channels, int64_t out_channels, ops::AttentionShape shape)
    : in_(in_channels), out_(out_channels), shape_(shape) {
  reset();
}

void Gatv2ConvImpl::reset() {
  check(shape_.heads >= 1 && out_ % shape_.heads == 0,
        "Gatv2Conv: out_channels must be divisible by heads, got {} and {}", out_, shape_.heads);
  lin_l = register_module("lin_l", Linear(in_, out_));
  lin_r = register_module("lin_r", Linear(in_, out_));
  att = register_parameter("att", new_parameter({1, shape_.heads, out_ / shape_.heads}));
  bias = register_parameter("bias", new_parameter({out_}));
  reset_parameters();
}

void Gatv2ConvImpl::reset_parameters() {
  at::NoGradGuard no_grad;
  for (const at::Tensor& t : {lin_l->weight, lin_r->weight, att})
    torch::nn::init::xavier_uniform_(t);
  for (at::Tensor t : {lin_l->bias, lin_r->bias, bias}) t.zero_();
}

at::Tensor Gatv2ConvImpl::forward(const at::Tensor& x, const Csr& graph,
                                  const ops::EpilogueTensors& epilogue) {
  check_conv_input("Gatv2Conv", x, graph, in_);
  return ops::gatv2_attention(graph, shape_, lin_l->forward(x), lin_r->forward(x), att.view({-1}),
                              bias, epilogue);
}

}  // namespace egc::nn
