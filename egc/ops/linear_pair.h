// One pass over X for both products of the EGC layer: bases = X Theta' and weights = X Phi' + b.
//
// The bases are written in the layout that the fused operator reads.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "egc/engine/slice_layout.h"

namespace egc::ops {

// x: [N, F].   theta: [B*L, F].   phi: [W, F].   phi_bias: [W], may be undefined.
// Result: bases [N, B*L] in `layout`, weights [N, W]. Differentiable in all inputs.
std::pair<at::Tensor, at::Tensor> linear_pair(const at::Tensor& x, const at::Tensor& theta,
                                              const at::Tensor& phi, const at::Tensor& phi_bias,
                                              const SliceLayout& layout);

}  // namespace egc::ops
