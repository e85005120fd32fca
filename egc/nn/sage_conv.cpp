#include "egc/nn/sage_conv.h"

#include "egc/ops/fused_aggregate.h"
#include "egc/ops/linear.h"

namespace egc::nn {

SageConvImpl::SageConvImpl(int64_t in_channels, int64_t out_channels, Aggregator aggregator)
    : in_(in_channels), out_(out_channels), aggregator_(aggregator) {
  check(aggregator == Aggregator::kMean || aggregator == Aggregator::kMax,
        "SageConv: the aggregator must be mean or max, got {}", egc::name_of(aggregator));
  reset();
}

void SageConvImpl::reset() {
  lin_l = register_module("lin_l", Linear(in_, out_));
  lin_r = register_module("lin_r", Linear(in_, out_, /*has_bias=*/false));
}

void SageConvImpl::reset_parameters() {
  lin_l->reset_parameters();
  lin_r->reset_parameters();
}

at::Tensor SageConvImpl::forward(const at::Tensor& x, const Csr& graph,
                                 const ops::EpilogueTensors& epilogue) {
  check_conv_input("SageConv", x, graph, in_);
  const at::Tensor near = ops::aggregate(graph, {aggregator_}, SelfLoops::kNone, x);
  return ops::linear_sum({near, x}, {lin_l->weight, lin_r->weight}, {{0, 0, 0, 0}, {1, 0, 1, 0}},
                         lin_l->bias, out_, epilogue);
}

}  // namespace egc::nn
