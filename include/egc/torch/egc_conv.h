// EGC, the Efficient Graph Convolution (Tailor et al., ICLR 2022), as a module of LibTorch.
//
//   egc::torch::EgcConv conv(egc::nn::EgcConvOptions::egc_s(128, 128));
//   at::Tensor y = conv(x, graph);
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "egc/torch/functional.h"

namespace egc::torch {

// y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i], heads
// concatenated, plus a bias. Parameters have the names, shapes and order of PyTorch Geometric's
// EGConv: bases_lin.weight [B*L, F], comb_lin.weight [H*A*B, F], comb_lin.bias, bias.
class EgcConvImpl : public ::torch::nn::Cloneable<EgcConvImpl> {
 public:
  explicit EgcConvImpl(nn::EgcConvOptions options);
  EgcConvImpl(int64_t in_channels, int64_t out_channels)
      : EgcConvImpl(nn::EgcConvOptions(in_channels, out_channels)) {}

  void reset() override;
  // Glorot for the bases, a default Linear for the weights, zero bias; by LibTorch's generator.
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  // float32 and float64; other types are refused before anything is changed.
  void to(::torch::Device device, ::torch::Dtype dtype, bool non_blocking = false) override;
  void to(::torch::Dtype dtype, bool non_blocking = false) override;
  using ::torch::nn::Cloneable<EgcConvImpl>::to;

  // x: [N, in_channels], N = nodes of the graph.   Result: [N, out_channels].
  at::Tensor forward(const at::Tensor& x, const Csr& graph);

  nn::EgcConvOptions options;
  ::torch::nn::Linear bases_lin = nullptr;
  ::torch::nn::Linear comb_lin = nullptr;
  at::Tensor bias;  // undefined without
};

// What TORCH_MODULE(EgcConv) makes, in a namespace that is called torch itself.
class EgcConv : public ::torch::nn::ModuleHolder<EgcConvImpl> {
 public:
  using ::torch::nn::ModuleHolder<EgcConvImpl>::ModuleHolder;
  using Impl = EgcConvImpl;
};

}  // namespace egc::torch
