// GIN (Xu et al., ICLR 2019) with one Linear: y = W ((1 + eps) x_i + sum of x_j) + b, eps learned.
// Memory O(V).
#pragma once

#include "egc/nn/conv.h"
#include "egc/nn/linear.h"

namespace egc::nn {

class GinConvImpl : public ConvModule<GinConvImpl> {
 public:
  GinConvImpl(int64_t in_channels, int64_t out_channels);

  void reset() override;
  void reset_parameters() override;
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override;

  Linear nn{nullptr};
  at::Tensor eps;  // [1]

 private:
  int64_t in_;
  int64_t out_;
};
TORCH_MODULE(GinConv);

}  // namespace egc::nn
