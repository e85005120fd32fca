// EGC, the Efficient Graph Convolution (Tailor et al., ICLR 2022).
#pragma once

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/ops/egc.h"

namespace egc::nn {

using egc::parse_weight_activation;
using egc::WeightActivation;

struct EgcConvOptions {
  EgcConvOptions(int64_t in, int64_t out) : in_channels(in), out_channels(out) {}

  int64_t in_channels;
  int64_t out_channels;  // must be divisible by heads
  int64_t heads = 8;
  int64_t bases = 4;
  AggregatorSet aggregators = {Aggregator::kSymnorm};
  SelfLoops self_loops = SelfLoops::kAll;
  WeightActivation activation = WeightActivation::kIdentity;
  bool bias = true;

  // The two layers of the paper.
  static EgcConvOptions egc_s(int64_t in, int64_t out) { return {in, out}; }
  static EgcConvOptions egc_m(int64_t in, int64_t out, AggregatorSet aggregators);
};

// y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i], heads
// concatenated, plus a bias. Parameters have the names, shapes and order of PyTorch Geometric's
// EGConv: bases_lin.weight [B*L, F], comb_lin.weight [H*A*B, F], comb_lin.bias, bias.
class EgcConv : public Conv {
 public:
  explicit EgcConv(EgcConvOptions options);

  // Glorot for the bases, a default Linear for the weights, zero bias.
  void reset_parameters(Rng& rng) override;
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  // The weights w, activated, [N, H*A*B] ordered (h, a, b).
  Tensor combination(const Tensor& x) const;
  // How much each term of the sum has: |w[i, h, a, b]| * norm of agg_a(bases_b)[i], ordered alike.
  Tensor term_norms(const Tensor& x, const Csr& graph) const;

  EgcConvOptions options;
  ParameterPtr bases_weight;
  ParameterPtr comb_weight;
  ParameterPtr comb_bias;
  ParameterPtr bias;  // null without

 private:
  ops::EgcShape shape() const;
};

}  // namespace egc::nn
