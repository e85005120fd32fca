// GCN (Kipf and Welling, ICLR 2017): y = S x W' + b with S the symmetrically normalised adjacency,
// self-loops included. Memory O(V).
#pragma once

#include "egc/nn/conv.h"
#include "egc/nn/linear.h"

namespace egc::nn {

class GcnConvImpl : public ConvModule<GcnConvImpl> {
 public:
  GcnConvImpl(int64_t in_channels, int64_t out_channels);

  void reset() override;
  void reset_parameters() override;  // Glorot, zero bias
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override;

  Linear lin{nullptr};  // without bias
  at::Tensor bias;      // [out], added after the aggregation

 private:
  int64_t in_;
  int64_t out_;
};
TORCH_MODULE(GcnConv);

}  // namespace egc::nn
