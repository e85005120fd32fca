// EGC, the Efficient Graph Convolution (Tailor et al., ICLR 2022), as a LibTorch module.
//
//   egc::torch::EgcConv conv(egc::nn::EgcConvOptions::egc_s(128, 128));
//   at::Tensor y = conv(x, graph);
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "egc/torch/functional.h"

namespace egc::torch {

// The parameters of features of edges, under the names of nn::EdgeEncoder.
class EdgeEncoderImpl : public ::torch::nn::Cloneable<EdgeEncoderImpl> {
 public:
  // For messages of so many columns; has_loops: whether the layer adds self-loops.
  EdgeEncoderImpl(nn::EdgeSchema schema, int64_t columns, bool has_loops);

  void reset() override;    // makes the parameters; called by constructor and clone()
  void reset_parameters();  // Glorot for every table, PyTorch's Linear, zeros for self-loops

  nn::EdgeSchema schema;              // as given
  int64_t columns;                    // as given
  bool has_loops;                     // as given
  at::Tensor table;                   // [sum of categories, columns]; or undefined
  ::torch::nn::Linear lin = nullptr;  // [columns, numbers]; or empty
  at::Tensor self_edge;               // [columns]; or undefined
};

// The module holder of EdgeEncoderImpl, as TORCH_MODULE makes it.
class EdgeEncoder : public ::torch::nn::ModuleHolder<EdgeEncoderImpl> {
 public:
  using ::torch::nn::ModuleHolder<EdgeEncoderImpl>::ModuleHolder;
  using Impl = EdgeEncoderImpl;  // the module
};

// The Efficient Graph Convolution:
//   y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i]
// with heads concatenated, plus a bias. Parameters have the names, shapes and order of PyTorch
// Geometric's EGConv: bases_lin.weight [B*L, F], comb_lin.weight [H*A*B, F], comb_lin.bias, bias.
class EgcConvImpl : public ::torch::nn::Cloneable<EgcConvImpl> {
 public:
  // Throws unless the options make sense together.
  explicit EgcConvImpl(nn::EgcConvOptions options);
  // With the default options, EGC-S.
  EgcConvImpl(int64_t in_channels, int64_t out_channels)
      : EgcConvImpl(nn::EgcConvOptions(in_channels, out_channels)) {}

  void reset() override;  // makes the parameters; called by constructor and clone()
  // Glorot for the bases, PyTorch's Linear for the combination weights, zero bias; draws from
  // LibTorch's generator.
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;  // prints the options

  // Moves and converts the parameters. Throws for types other than float32 and float64.
  void to(::torch::Device device, ::torch::Dtype dtype, bool non_blocking = false) override;
  // As above, without moving.
  void to(::torch::Dtype dtype, bool non_blocking = false) override;
  using ::torch::nn::Cloneable<EgcConvImpl>::to;

  // x: [N, in_channels], N = nodes of the graph.   Result: [N, out_channels]. With options.edges
  // the graph has these features of edges; tensors on other devices than the CPU are refused then.
  at::Tensor forward(const at::Tensor& x, const Csr& graph);

  nn::EgcConvOptions options;               // as given
  ::torch::nn::Linear bases_lin = nullptr;  // [B*L, F], without bias
  ::torch::nn::Linear comb_lin = nullptr;   // [H*A*B, F]
  at::Tensor bias;                          // [H*L]; undefined without bias
  EdgeEncoder edges = nullptr;              // empty without options.edges
};

// The module holder of EgcConvImpl, as TORCH_MODULE makes it.
class EgcConv : public ::torch::nn::ModuleHolder<EgcConvImpl> {
 public:
  using ::torch::nn::ModuleHolder<EgcConvImpl>::ModuleHolder;
  using Impl = EgcConvImpl;  // the module
};

}  // namespace egc::torch
