// GATv2 (Brody et al., ICLR 2022): attention after the nonlinearity, separate Linears for source
// and target. Scores are recomputed where they are needed; memory O(V).
#pragma once

#include "egc/nn/conv.h"
#include "egc/nn/linear.h"
#include "egc/ops/attention.h"

namespace egc::nn {

class Gatv2ConvImpl : public ConvModule<Gatv2ConvImpl> {
 public:
  // out_channels is the width of all heads together.
  Gatv2ConvImpl(int64_t in_channels, int64_t out_channels, ops::AttentionShape shape = {8});

  void reset() override;
  void reset_parameters() override;  // Glorot, zero biases
  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override;

  Linear lin_l{nullptr};  // of the source: the values
  Linear lin_r{nullptr};  // of the target: the query
  at::Tensor att;         // [1, H, C]
  at::Tensor bias;        // [out]

 private:
  int64_t in_;
  int64_t out_;
  ops::AttentionShape shape_;
};
TORCH_MODULE(Gatv2Conv);

}  // namespace egc::nn
