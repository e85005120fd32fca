// GraphSAGE (Hamilton et al., NeurIPS 2017): y = W_l mean(x_j) + b + W_r x_i. Memory O(V).
#pragma once

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/linear.h"

namespace egc::nn {

class SageConvImpl : public ConvModule<SageConvImpl> {
 public:
  // aggregator: mean, or max.
  SageConvImpl(int64_t in_channels, int64_t out_channels,
               Aggregator aggregator = Aggregator::kMean);

  void reset() override;
  void reset_parameters() override;
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override;

  Linear lin_l{nullptr};  // of the neighbours, with bias
  Linear lin_r{nullptr};  // of the node itself, without

 private:
  int64_t in_;
  int64_t out_;
  Aggregator aggregator_;
};
TORCH_MODULE(SageConv);

}  // namespace egc::nn
