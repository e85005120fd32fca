// Operators of the layers on LibTorch tensors. On the CPU with float32 or float64 they are fused.
// On other devices they are composed of LibTorch's operators (torch/composed.h), except spmm().
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/graph/csr.h"
#include "egc/nn/egc_conv.h"

namespace egc::torch {

// Parameters of EGC for F input columns.
struct EgcConvTensors {
  at::Tensor bases_weight;  // [B*L, F]
  at::Tensor comb_weight;   // [H*A*B, F], rows ordered (h, a, b)
  at::Tensor comb_bias;     // [H*A*B]
  at::Tensor bias;          // [H*L] or undefined
  // With options.edges; otherwise undefined.
  at::Tensor edge_table{};   // [sum of categories, B*L]
  at::Tensor edge_weight{};  // [B*L, numbers]
  at::Tensor edge_bias{};    // [B*L]
  at::Tensor self_edge{};    // [B*L], of added self-loops
};

// The layer. x: [N, F].   Result: [N, H*L]. Ignores options.bias. With options.edges the graph has
// those features of edges, and all tensors are on the CPU.
at::Tensor egc_conv(const nn::EgcConvOptions& options, const EgcConvTensors& tensors,
                    const at::Tensor& x, const Csr& graph);

// Combines aggregates of bases:
//   y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i] + bias[h]
// bases: [N, B*L].   weights: [N, H*A*B], ordered (h, a, b).   bias: [H*L] or undefined. Result:
// [N, H*L]. Ignores shape.activation: weights are used as they are.
at::Tensor fused_aggregate(const Csr& graph, const ops::EgcShape& shape, const at::Tensor& bases,
                           const at::Tensor& weights, const at::Tensor& bias = {});

// Sparse-dense product: out[i] = sum of e_ij * x[j]. x: [N, C]. CPU only.
at::Tensor spmm(const Csr& graph, const at::Tensor& x);

}  // namespace egc::torch
