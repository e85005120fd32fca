// EGC, the Efficient Graph Convolution (Tailor et al., ICLR 2022), as a LibTorch module.
#pragma once

#include <torch/nn/pimpl.h>

#include <string_view>

#include "egc/kernels/aggregator.h"
#include "egc/nn/conv.h"

namespace egc::nn {

// Applied to the weights w[i, h, :, :] of a head.
enum class WeightActivation { kIdentity, kSoftmax, kSigmoid, kHardtanh };
WeightActivation parse_weight_activation(std::string_view name);
std::string_view name_of(WeightActivation activation);

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

struct EgcConvTensors {
  at::Tensor bases_weight;
  at::Tensor comb_weight;
  at::Tensor comb_bias;
  at::Tensor bias;  // may be undefined
};

// The layer without a module around it; options.bias says nothing here.
at::Tensor egc_conv(const EgcConvOptions& options, const EgcConvTensors& tensors,
                    const at::Tensor& x, const Csr& graph,
                    const ops::EpilogueTensors& epilogue = {});

// y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i], heads
// concatenated, plus a bias. Parameters have the names, shapes and order of PyTorch Geometric's
// EGConv: bases_lin.weight [B*L, F], comb_lin.weight [H*A*B, F], comb_lin.bias, bias.
class EgcConvImpl : public ConvModule<EgcConvImpl> {
 public:
  explicit EgcConvImpl(EgcConvOptions options);
  EgcConvImpl(int64_t in, int64_t out) : EgcConvImpl(EgcConvOptions(in, out)) {}

  void reset() override;
  void reset_parameters()
      override;  // Glorot for the bases, a default Linear for the weights, zero bias
  void pretty_print(std::ostream& stream) const override;

  at::Tensor forward(const at::Tensor& x, const Csr& graph,
                     const ops::EpilogueTensors& epilogue = {}) override;

  // The weights w, activated, as [N, H, A, B].
  at::Tensor combination(const at::Tensor& x) const;
  // How much each term of the sum has: |w[i, h, a, b]| * norm of agg_a(bases_b)[i], as [N, H, A,
  // B].
  at::Tensor term_norms(const at::Tensor& x, const Csr& graph) const;

  EgcConvOptions options;
  at::Tensor bases_weight;
  at::Tensor comb_weight;
  at::Tensor comb_bias;
  at::Tensor bias;
};
TORCH_MODULE(EgcConv);

}  // namespace egc::nn
