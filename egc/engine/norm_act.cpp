#include "egc/engine/norm_act.h"

#include <algorithm>
#include <vector>

#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/engine/scratch.h"
#include "egc/graph/row_split.h"

namespace egc {
namespace {

// Enough rows to pay for a task, and at most 512 partial sums.
std::vector<RowRange> blocks_of(int64_t rows) {
  return split_evenly(rows, std::max<int64_t>(256, (rows + 511) / 512));
}

template <class F>
void for_each_block(const std::vector<RowRange>& blocks, F&& f) {
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t b) { f(b, blocks[b]); });
}

template <class T>
T* keep_scratch(const kernels::NormAct<T>& op, int64_t columns) {
  return op.drop > 0 ? thread_scratch<T>(kernels::norm_act_scratch_size(columns)) : nullptr;
}

}  // namespace

template <class T>
void column_statistics(const T* x, int64_t rows, int64_t columns, T* mean, T* variance) {
  const WorkTimer timer(Work::kKernels);
  const auto blocks = blocks_of(rows);
  std::vector<T> means(blocks.size() * columns);
  std::vector<T> squares(blocks.size() * columns);
  for_each_block(blocks, [&](int64_t b, RowRange range) {
    kernels::column_moments(x, range, columns, means.data() + b * columns,
                            squares.data() + b * columns);
  });
  // Blocks are merged in order by the rule of Chan, Golub and LeVeque.
  std::vector<double> total(columns, 0.0);
  std::vector<double> off(columns, 0.0);
  double seen = 0;
  for (size_t b = 0; b < blocks.size(); ++b) {
    const auto n = static_cast<double>(blocks[b].end - blocks[b].begin);
    for (int64_t c = 0; c < columns; ++c) {
      const double delta = means[b * columns + c] - total[c];
      total[c] += delta * n / (seen + n);
      off[c] += squares[b * columns + c] + delta * delta * seen * n / (seen + n);
    }
    seen += n;
  }
  for (int64_t c = 0; c < columns; ++c) {
    mean[c] = static_cast<T>(total[c]);
    variance[c] = static_cast<T>(rows > 0 ? off[c] / static_cast<double>(rows) : 0.0);
  }
}

template <class T>
void norm_act_forward(const kernels::NormAct<T>& op, int64_t rows, int64_t columns, const T* x,
                      const T* residual, T* y) {
  const WorkTimer timer(Work::kKernels);
  for_each_block(blocks_of(rows), [&](int64_t, RowRange range) {
    kernels::norm_act(op, range, columns, 0, columns, x, residual, y, keep_scratch(op, columns));
  });
}

template <class T>
void norm_act_backward(const kernels::NormAct<T>& op, const NormStatistics<T>& statistics,
                       int64_t rows, int64_t columns, const T* x, const T* grad_y, T* grad_x,
                       T* grad_weight, T* grad_bias) {
  const WorkTimer timer(Work::kKernels);
  const auto blocks = blocks_of(rows);
  const kernels::NormActGrad<T> in{op, x, grad_y, statistics.mean};
  std::vector<T> a;
  std::vector<T> b;
  std::vector<T> c;
  if (op.scale != nullptr) {
    std::vector<T> sum_g(blocks.size() * columns);
    std::vector<T> sum_gx(blocks.size() * columns);
    for_each_block(blocks, [&](int64_t block, RowRange range) {
      kernels::norm_act_sums(in, range, columns, sum_g.data() + block * columns,
                             sum_gx.data() + block * columns, keep_scratch(op, columns));
    });
    std::vector<double> sums(2 * columns, 0.0);  // of g, then of g * (x - mean)
    for (int64_t k = 0; k < columns; ++k) {
      for (size_t block = 0; block < blocks.size(); ++block) {
        sums[k] += sum_g[block * columns + k];
        sums[columns + k] += sum_gx[block * columns + k];
      }
      grad_bias[k] = static_cast<T>(sums[k]);
      grad_weight[k] = static_cast<T>(sums[columns + k] * statistics.inv_std[k]);
    }
    if (statistics.add_others) statistics.add_others(sums);
    a.resize(columns);
    b.resize(columns);
    c.resize(columns);
    const auto n = static_cast<double>(statistics.rows_of_all > 0 ? statistics.rows_of_all : rows);
    const double by = statistics.of_this_batch ? 1.0 / n : 0.0;
    for (int64_t k = 0; k < columns; ++k) {
      const double inv_std = statistics.inv_std[k];
      a[k] = op.scale[k];
      b[k] = static_cast<T>(-op.scale[k] * inv_std * inv_std * sums[columns + k] * by);
      c[k] = static_cast<T>(-op.scale[k] * sums[k] * by);
    }
  }
  if (grad_x == nullptr) return;
  for_each_block(blocks, [&](int64_t, RowRange range) {
    kernels::norm_act_backward(in, op.scale != nullptr ? a.data() : nullptr, b.data(), c.data(),
                               range, columns, grad_x, keep_scratch(op, columns));
  });
}

#define EGC_INSTANTIATE(T)                                                                         \
  template void column_statistics(const T*, int64_t, int64_t, T*, T*);                             \
  template void norm_act_forward(const kernels::NormAct<T>&, int64_t, int64_t, const T*, const T*, \
                                 T*);                                                              \
  template void norm_act_backward(const kernels::NormAct<T>&, const NormStatistics<T>&, int64_t,   \
                                  int64_t, const T*, const T*, T*, T*, T*)
EGC_INSTANTIATE(float);
EGC_INSTANTIATE(double);
#undef EGC_INSTANTIATE

}  // namespace egc
