// What follows a layer, in one pass over its output: normalization, ReLU, dropout, residual.
//   y = dropout(relu(x * scale + shift)) + residual
// Plain functions over a row range of matrices [N, columns]; every step is optional. No threads.
#pragma once

#include <cstdint>

#include "egc/kernels/csr_view.h"

namespace egc::kernels {

// The steps of the forward pass.
template <class T>
struct NormAct {
  const T* scale = nullptr;  // [columns]; null: no normalization, and no shift either
  const T* shift = nullptr;  // [columns], given with scale
  bool relu = false;         // apply ReLU
  double drop = 0.0;         // dropout probability; kept elements are scaled by 1 / (1 - drop)
  uint64_t seed = 0;         // of dropout: the mask is a function of seed, row and column
  int64_t first_row = 0;     // row number of the first row in the dropout mask
};

// Elements of the scratch buffer that a call with dropout needs.
inline int64_t norm_act_scratch_size(int64_t columns) { return columns + 8; }

// The forward pass over columns [first, first + width). x, y: [N, columns]; y may be x. residual:
// [N, columns], or null.
template <class T>
void norm_act(const NormAct<T>& op, RowRange rows, int64_t columns, int64_t first, int64_t width,
              const T* x, const T* residual, T* y, T* scratch);

// Mean and sum of squared deviations of every column over the rows, in two passes. mean, squares:
// [columns].
template <class T>
void column_moments(const T* x, RowRange rows, int64_t columns, T* mean, T* squares);

// Inputs of the backward pass. Below, g is grad_y where the element passed dropout and ReLU, and 0
// elsewhere.
template <class T>
struct NormActGrad {
  NormAct<T> op;              // as in the forward pass
  const T* x = nullptr;       // [N, columns], input of the forward pass
  const T* grad_y = nullptr;  // [N, columns]
  const T* mean = nullptr;    // [columns]
};

// Sums over the rows, by column: sum_g of g, and sum_gx of g * (x - mean).
template <class T>
void norm_act_sums(const NormActGrad<T>& in, RowRange rows, int64_t columns, T* sum_g, T* sum_gx,
                   T* scratch);

// grad_x = a * g + (x - mean) * b + c with a, b, c: [columns]; all null: grad_x = g.
template <class T>
void norm_act_backward(const NormActGrad<T>& in, const T* a, const T* b, const T* c, RowRange rows,
                       int64_t columns, T* grad_x, T* scratch);

}  // namespace egc::kernels
