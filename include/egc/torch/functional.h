// The operators of the layers on LibTorch's tensors, without modules around them.
//
// On the CPU, for float32 and float64, these are the fused ones. Of tensors on other devices the
// same is composed of LibTorch's own operators (composed.h), but for spmm.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/graph/csr.h"
#include "egc/nn/egc_conv.h"

namespace egc::torch {

struct EgcConvTensors {
  at::Tensor bases_weight;  // [B*L, F]
  at::Tensor comb_weight;   // [H*A*B, F]
  at::Tensor comb_bias;     // [H*A*B]
  at::Tensor bias;          // [H*L] or undefined
};

// x: [N, F].   Result: [N, H*L]. options.bias says nothing here.
at::Tensor egc_conv(const nn::EgcConvOptions& options, const EgcConvTensors& tensors,
                    const at::Tensor& x, const Csr& graph);

// y[i, h] = sum over aggregators a and bases b of w[i, h, a, b] * agg_a(bases_b)[i] + bias[h]
// bases: [N, B*L].   weights: [N, H*A*B], ordered (h, a, b).   bias: [H*L] or undefined.
// Result: [N, H*L]. shape.activation says nothing here: the weights are taken as they are.
at::Tensor fused_aggregate(const Csr& graph, const ops::EgcShape& shape, const at::Tensor& bases,
                           const at::Tensor& weights, const at::Tensor& bias = {});

// out[i] = sum of e_ij * x[j].   x: [N, C].
at::Tensor spmm(const Csr& graph, const at::Tensor& x);

}  // namespace egc::torch
