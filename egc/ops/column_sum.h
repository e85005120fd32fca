// Sum over the rows of a matrix, in blocks of fixed size: the same bits for any number of threads.
#pragma once

#include <vector>

#include "egc/core/parallel.h"
#include "egc/graph/row_split.h"
#include "egc/tensor/gradient.h"

namespace egc::ops {

// x: [rows, columns] row-major.   out: [columns], written or added to.
template <class T>
void column_sum(const T* x, int64_t rows, int64_t columns, bool accumulate, T* out) {
  const auto blocks = split_evenly(rows, 2048);
  std::vector<T> partial(blocks.size() * static_cast<size_t>(columns), T{0});
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
    T* sum = partial.data() + b * columns;
    for (int64_t i = blocks[b].begin; i < blocks[b].end; ++i)
      for (int64_t c = 0; c < columns; ++c) sum[c] += x[i * columns + c];
  });
  if (!accumulate)
    for (int64_t c = 0; c < columns; ++c) out[c] = T{0};
  for (size_t b = 0; b < blocks.size(); ++b)
    for (int64_t c = 0; c < columns; ++c) out[c] += partial[b * columns + c];
}

// The gradient of a bias [1, columns] that was added to every row; nothing where it has none.
template <class T>
void add_column_sum(const Tensor& grad_y, const Tensor& bias) {
  if (!bias.defined() || bias.gradient() == nullptr) return;
  const auto sink = bias.gradient()->sink(1, grad_y.columns(), grad_y.dtype());
  column_sum(static_cast<const T*>(grad_y.data<T>()), grad_y.rows(), grad_y.columns(),
             sink.accumulate, sink.to.data<T>());
}

}  // namespace egc::ops
