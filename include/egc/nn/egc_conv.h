// EGC, the Efficient Graph Convolution (Tailor et al., ICLR 2022).
#pragma once

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"
#include "egc/nn/edge_encoder.h"
#include "egc/ops/egc.h"

namespace egc::nn {

using egc::parse_weight_activation;
using egc::WeightActivation;

// Options of EgcConv; the defaults are EGC-S of the paper.
struct EgcConvOptions {
  // Default options for these widths.
  EgcConvOptions(int64_t in, int64_t out) : in_channels(in), out_channels(out) {}

  int64_t in_channels;                                 // F, columns of the input
  int64_t out_channels;                                // H*L, divisible by heads
  int64_t heads = 8;                                   // H
  int64_t bases = 4;                                   // B
  AggregatorSet aggregators = {Aggregator::kSymnorm};  // A of them
  SelfLoops self_loops = SelfLoops::kAll;              // which aggregators see the node itself
  WeightActivation activation = WeightActivation::kIdentity;  // of the combination weights
  bool bias = true;                                           // add a learned bias to the output
  EdgeSchema edges;            // features of edges that messages take; none: messages are x_j's
  bool relu_messages = false;  // with edges: messages ReLU(z_j + e_ij) instead of z_j + e_ij

  // EGC-S: one aggregator, symnorm.
  static EgcConvOptions egc_s(int64_t in, int64_t out) { return {in, out}; }
  // EGC-M: several aggregators, 4 heads and 4 bases.
  static EgcConvOptions egc_m(int64_t in, int64_t out, AggregatorSet aggregators);
};

// The Efficient Graph Convolution:
//   y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i]
// with heads concatenated, plus a bias. Parameters have the names, shapes and order of PyTorch
// Geometric's EGConv: bases_lin.weight [B*L, F], comb_lin.weight [H*A*B, F], comb_lin.bias, bias.
// With edge features, aggregators run over the messages bases[j] + e_ij.
class EgcConv : public Conv {
 public:
  // Throws kUsage unless the options make sense together.
  explicit EgcConv(EgcConvOptions options);

  // Glorot for the bases, PyTorch's Linear for the combination weights, zero bias.
  void reset_parameters(Rng& rng) override;
  // x: [N, in_channels], N = nodes of the graph.   Result: [N, out_channels].
  Tensor forward(Tape& tape, const Tensor& x, const Csr& graph,
                 const ops::EpilogueTensors& epilogue = {}) override;

  // The activated combination weights w of every node, [N, H*A*B], ordered (h, a, b). Inference
  // only.
  Tensor combination(const Tensor& x) const;
  // The norm of each term of the sum, |w[i, h, a, b]| * norm of agg_a(bases_b)[i]: what it
  // contributes to the output. Shape and order as combination().
  Tensor term_norms(const Tensor& x, const Csr& graph) const;

  EgcConvOptions options;     // as given
  ParameterPtr bases_weight;  // [B*L, F]
  ParameterPtr comb_weight;   // [H*A*B, F], rows ordered (h, a, b)
  ParameterPtr comb_bias;     // [H*A*B]
  ParameterPtr bias;          // [H*L]; null without bias
  EdgeEncoderPtr edges;       // of B*L columns, "edges"; null without edge features

 private:
  ops::EgcShape shape() const;
};

}  // namespace egc::nn
