// What follows a layer, in one pass over its output: normalisation, ReLU, dropout, residual.
//   y = dropout(relu(x * scale + shift)) + residual
// Plain functions over a row range of matrices [N, columns]; every part is optional. No threads.
#pragma once

#include <cstdint>

#include "egc/kernels/csr_view.h"

namespace egc::kernels {

template <class T>
struct NormAct {
  const T* scale = nullptr;  // [columns], with shift; null: neither
  const T* shift = nullptr;
  bool relu = false;
  double drop = 0.0;      // probability of dropping an element; what stays is scaled up
  uint64_t seed = 0;      // which elements: a function of seed, row and column alone
  int64_t first_row = 0;  // what the first row counts as there
};

// Elements of scratch that a call with dropout needs.
inline int64_t norm_act_scratch_size(int64_t columns) { return columns + 8; }

// Columns [first, first + width) only. y may be x.   residual: as y, or null.
template <class T>
void norm_act(const NormAct<T>& op, RowRange rows, int64_t columns, int64_t first, int64_t width,
              const T* x, const T* residual, T* y, T* scratch);

// Mean and sum of squared deviations of every column over the rows, in two passes.
template <class T>
void column_moments(const T* x, RowRange rows, int64_t columns, T* mean, T* squares);

// Backward. With g = grad_y where it passed dropout and ReLU:
template <class T>
struct NormActGrad {
  NormAct<T> op;
  const T* x = nullptr;
  const T* grad_y = nullptr;
  const T* mean = nullptr;  // [columns]
};

// sum_g = sum of g,   sum_gx = sum of g * (x - mean), over the rows.
template <class T>
void norm_act_sums(const NormActGrad<T>& in, RowRange rows, int64_t columns, T* sum_g, T* sum_gx,
                   T* scratch);

// grad_x = a * g + (x - mean) * b + c with one a, b, c per column; null: grad_x = g.
template <class T>
void norm_act_backward(const NormActGrad<T>& in, const T* a, const T* b, const T* c, RowRange rows,
                       int64_t columns, T* grad_x, T* scratch);

}  // namespace egc::kernels
