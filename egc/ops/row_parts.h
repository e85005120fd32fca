// Elementwise steps between products and aggregations, in one pass each: composed of ATen calls
// they would be several passes and as many fresh buffers.
#pragma once

#include <ATen/core/Tensor.h>

namespace egc::ops {

// y[i] = a[i] + s[i] * x[i].   a, x: [N, C].   s: [N, 1], a constant. Differentiable in a and x.
at::Tensor add_scaled_rows(const at::Tensor& a, const at::Tensor& x, const at::Tensor& s);

// y[i, t] = sum over k of s[i, k] * x[i, t, k].   x: [N, T*K*C].   s: [N, K], a constant.
// y: [N, T*C].
at::Tensor sum_scaled_parts(const at::Tensor& x, const at::Tensor& s, int64_t towers);

// From the aggregates of one part of a message to those of the whole (nn/towers.h), for PNA:
// mean, min and max move with p[i]; the deviation does not, and is 0 without a gradient where the
// variance is at most `least_variance`, which is PyTorch Geometric's rule.
// aggregates: [N, 4*C] (mean, min, max, variance).   p: [N, C].   s: [N, 1], a constant.
// Result: [N, 4*C] (mean + s p, min + s p, max + s p, deviation).
at::Tensor shift_aggregates(const at::Tensor& aggregates, const at::Tensor& p, const at::Tensor& s,
                            double least_variance);

}  // namespace egc::ops
