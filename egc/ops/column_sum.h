// Sum over the rows of a matrix, in blocks of fixed size: the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/core/parallel.h"
#include "egc/graph/row_split.h"

namespace egc::ops {

// x: [rows, columns] row-major.   out: [columns].
template <class T>
void column_sum(const T* x, int64_t rows, int64_t columns, T* out) {
  const auto blocks = split_evenly(rows, 2048);
  std::vector<T> partial(blocks.size() * columns, T{0});
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
    T* sum = partial.data() + b * columns;
    for (int64_t i = blocks[b].begin; i < blocks[b].end; ++i)
      for (int64_t c = 0; c < columns; ++c) sum[c] += x[i * columns + c];
  });
  for (int64_t c = 0; c < columns; ++c) out[c] = T{0};
  for (size_t b = 0; b < blocks.size(); ++b)
    for (int64_t c = 0; c < columns; ++c) out[c] += partial[b * columns + c];
}

}  // namespace egc::ops
