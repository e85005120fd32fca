// Attention layers: GAT and GATv2, in O(V) memory.
#pragma once

#include "egc/nn/conv.h"
#include "egc/nn/linear.h"
#include "egc/ops/attention.h"

namespace egc::nn {

// GAT (Velickovic et al., ICLR 2018), as PyTorch Geometric's GATConv. Throws kUsage for graphs with
// edge weights.
class GatConv : public Conv {
 public:
  // out_channels is the width of all heads together, H*C.
  GatConv(int64_t in_channels, int64_t out_channels, ops::AttentionShape shape = {8});

  void reset_parameters(Rng& rng) override;  // Glorot, zero bias
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  ParameterPtr att_src;  // [1, H, C]
  ParameterPtr att_dst;  // [1, H, C]
  ParameterPtr bias;     // [H*C]
  LinearPtr lin_src;     // [H*C, in], without bias

 private:
  Tensor score_weights(Tape& tape) const;

  int64_t in_;
  int64_t out_;
  ops::AttentionShape shape_;
};

// GATv2 (Brody et al., ICLR 2022), as PyTorch Geometric's GATv2Conv: attention after the
// nonlinearity. Throws kUsage for graphs with edge weights.
class Gatv2Conv : public Conv {
 public:
  // out_channels is the width of all heads together, H*C.
  Gatv2Conv(int64_t in_channels, int64_t out_channels, ops::AttentionShape shape = {8});

  void reset_parameters(Rng& rng) override;  // Glorot, zero biases
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  ParameterPtr att;   // [1, H, C]
  ParameterPtr bias;  // [H*C]
  LinearPtr lin_l;    // of the source: the values
  LinearPtr lin_r;    // of the target: the query

 private:
  int64_t in_;
  ops::AttentionShape shape_;
};

}  // namespace egc::nn
