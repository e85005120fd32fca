// The part of layer norm that looks along rows: each row minus its mean, over its deviation.
// What follows (weight, bias, ReLU, dropout, residual) is kernels/norm_act.h. Plain functions over
// a row range of matrices [N, columns]. No threads.
#pragma once

#include <cstdint>

#include "egc/kernels/csr_view.h"

namespace egc::kernels {

// normal = (x - mean) * inv_std with the mean and inv_std = 1 / sqrt(biased variance + eps) of each
// row.   x, normal: [N, columns].   inv_std: [N].
template <class T>
void normalize_rows(const T* x, RowRange rows, int64_t columns, T eps, T* normal, T* inv_std);

// grad_x from the gradient of `normal`: inv_std * (g - mean(g) - normal * mean(g * normal)), means
// over the row.   g, grad_x: [N, columns]; grad_x may be g.
template <class T>
void normalize_rows_backward(const T* normal, const T* inv_std, const T* g, RowRange rows,
                             int64_t columns, T* grad_x);

}  // namespace egc::kernels
