// GAT (Velickovic et al., ICLR 2018) with the attention vector split between source and target.
// The scores come out of the same pass over x as the values; memory O(V), nothing is kept per edge.
#pragma once

#include "egc/nn/conv.h"
#include "egc/nn/linear.h"
#include "egc/ops/attention.h"

namespace egc::nn {

class GatConvImpl : public ConvModule<GatConvImpl> {
 public:
  // out_channels is the width of all heads together.
  GatConvImpl(int64_t in_channels, int64_t out_channels, ops::AttentionShape shape = {8});

  void reset() override;
  void reset_parameters() override;  // Glorot, zero bias
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override;

  Linear lin_src{nullptr};  // without bias
  at::Tensor att_src;       // [1, H, C]
  at::Tensor att_dst;       // [1, H, C]
  at::Tensor bias;          // [out]

 private:
  int64_t in_;
  int64_t out_;
  ops::AttentionShape shape_;
};
TORCH_MODULE(GatConv);

}  // namespace egc::nn
