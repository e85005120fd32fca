#include "egc/nn/gcn_conv.h"

#include <torch/nn/init.h>

#include "egc/nn/parameter.h"
#include "egc/ops/fused_aggregate.h"

namespace egc::nn {

GcnConvImpl::GcnConvImpl(int64_t in_channels, int64_t out_channels)
    : in_(in_channels), out_(out_channels) {
  reset();
}

void GcnConvImpl::reset() {
  lin = register_module("lin", Linear(in_, out_, /*has_bias=*/false));
  bias = register_parameter("bias", new_parameter({out_}));
  reset_parameters();
}

void GcnConvImpl::reset_parameters() {
  at::NoGradGuard no_grad;
  torch::nn::init::xavier_uniform_(lin->weight);
  bias.zero_();
}

at::Tensor GcnConvImpl::forward(const at::Tensor& x, const Csr& graph,
                                const ops::EpilogueTensors& epilogue) {
  check_conv_input("GcnConv", x, graph, in_);
  return ops::aggregate(graph, {Aggregator::kSymnorm}, SelfLoops::kSymnorm, lin->forward(x), bias,
                        epilogue);
}

}  // namespace egc::nn
