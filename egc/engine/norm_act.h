// Batch normalisation, ReLU, dropout and residual over a whole matrix, with threads. Sums are made
// over blocks of rows that depend on the matrix alone: the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "egc/kernels/norm_act.h"

namespace egc {

// Mean and biased variance of every column.   x: [rows, columns].
template <class T>
void column_statistics(const T* x, int64_t rows, int64_t columns, T* mean, T* variance);

// y = dropout(relu(x * scale + shift)) + residual.
template <class T>
void norm_act_forward(const kernels::NormAct<T>& op, int64_t rows, int64_t columns, const T* x,
                      const T* residual, T* y);

// How x was normalised: scale = weight * inv_std, shift = bias - mean * scale.
template <class T>
struct NormStatistics {
  const T* mean = nullptr;     // [columns]
  const T* inv_std = nullptr;  // [columns]
  bool of_this_batch = true;   // else constants, without a gradient of their own
  // Where other processes have rows of the batch too: how many there are in all, and what adds up
  // sums of each column over all of them.
  int64_t rows_of_all = 0;  // 0: the rows here
  std::function<void(std::vector<double>& sums)> add_others = {};
};

// grad_weight, grad_bias: [columns], of the rows here. Without normalisation (op.scale null) they
// are not touched.
template <class T>
void norm_act_backward(const kernels::NormAct<T>& op, const NormStatistics<T>& statistics,
                       int64_t rows, int64_t columns, const T* x, const T* grad_y, T* grad_x,
                       T* grad_weight, T* grad_bias);

}  // namespace egc
