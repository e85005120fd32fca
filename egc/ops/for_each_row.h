// Rows of a matrix, each by itself, in parallel.
#pragma once

#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/graph/row_split.h"

namespace egc::ops {

template <class F>
void for_each_row(int64_t rows, F&& f) {
  const WorkTimer timer(Work::kKernels);
  const auto blocks = split_evenly(rows, 512);
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) {
    for (int64_t i = blocks[b].begin; i < blocks[b].end; ++i) f(i);
  });
}

}  // namespace egc::ops
