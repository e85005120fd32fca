#include "egc/nn/gin_conv.h"

#include "egc/nn/parameter.h"
#include "egc/ops/fused_aggregate.h"
#include "egc/ops/scaled_add.h"

namespace egc::nn {

GinConvImpl::GinConvImpl(int64_t in_channels, int64_t out_channels)
    : in_(in_channels), out_(out_channels) {
  reset();
}

void GinConvImpl::reset() {
  nn = register_module("nn", Linear(in_, out_));
  eps = register_parameter("eps", new_parameter({1}));
  reset_parameters();
}

void GinConvImpl::reset_parameters() {
  at::NoGradGuard no_grad;
  nn->reset_parameters();
  eps.zero_();
}

at::Tensor GinConvImpl::forward(const at::Tensor& x, const Csr& graph,
                                const ops::EpilogueTensors& epilogue) {
  check_conv_input("GinConv", x, graph, in_);
  const at::Tensor sum = ops::aggregate(graph, {Aggregator::kAdd}, SelfLoops::kNone, x);
  return nn->forward(ops::scaled_add(sum, x, eps), epilogue);
}

}  // namespace egc::nn
