// Each row of a whole matrix normalized by itself, with threads.
#pragma once

#include <cstdint>

namespace egc {

// As kernels::normalize_rows.   x, normal: [rows, columns].   inv_std: [rows].
template <class T>
void normalize_rows(const T* x, int64_t rows, int64_t columns, T eps, T* normal, T* inv_std);

// As kernels::normalize_rows_backward.   g, grad_x: [rows, columns]; grad_x may be g.
template <class T>
void normalize_rows_backward(const T* normal, const T* inv_std, const T* g, int64_t rows,
                             int64_t columns, T* grad_x);

}  // namespace egc
