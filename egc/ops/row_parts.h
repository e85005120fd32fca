// Elementwise steps between products and aggregations, in one pass each.
#pragma once

#include <vector>

#include "egc/tensor/tape.h"

namespace egc::ops {

// y[i] = a[i] + s[i] * x[i].   a, x: [N, C].   s: [N, 1], a constant. Differentiable in a and x.
Tensor add_scaled_rows(Tape& tape, const Tensor& a, const Tensor& x, const Tensor& s);

// y[i, t] = sum over k of s[i, k] * x[i, t, k].   x: [N, T*K*C].   s: [N, K], a constant.
// y: [N, T*C].
Tensor sum_scaled_parts(Tape& tape, const Tensor& x, const Tensor& s, int64_t towers);

// From the aggregates of one part of a message to those of the whole (nn/towers.h), for PNA:
// mean, min and max move with p[i]; the deviation does not, and is 0 without a gradient where the
// variance is at most `min_variance`, which is PyTorch Geometric's rule.
// aggregates: [N, 4*C] (mean, min, max, variance).   p: [N, C].   s: [N, 1], a constant.
// Result: [N, 4*C] (mean + s p, min + s p, max + s p, deviation).
Tensor shift_aggregates(Tape& tape, const Tensor& aggregates, const Tensor& p, const Tensor& s,
                        double min_variance);

// y = a + (1 + eps) * x with a learned scalar, the mixing of GIN.   a, x: [N, F].   eps: [1, 1].
Tensor scaled_add(Tape& tape, const Tensor& a, const Tensor& x, const Tensor& eps);

// The sum of matrices of one shape.
Tensor add(Tape& tape, const std::vector<Tensor>& terms);

// Logarithms of each row's softmax, over its first `columns` columns.   x: [N, >= columns].
Tensor log_softmax(Tape& tape, const Tensor& x, int64_t columns);

}  // namespace egc::ops
