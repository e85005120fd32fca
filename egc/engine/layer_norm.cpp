#include "egc/engine/layer_norm.h"

#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/graph/row_split.h"
#include "egc/kernels/layer_norm.h"

namespace egc {
namespace {

template <class F>
void for_each_row_range(int64_t rows, F&& f) {
  const WorkTimer timer(Work::kKernels);
  const auto ranges = split_evenly(rows, 256);
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t k) { f(ranges[k]); });
}

}  // namespace

template <class T>
void normalize_rows(const T* x, int64_t rows, int64_t columns, T eps, T* normal, T* inv_std) {
  for_each_row_range(rows, [&](RowRange range) {
    kernels::normalize_rows(x, range, columns, eps, normal, inv_std);
  });
}

template <class T>
void normalize_rows_backward(const T* normal, const T* inv_std, const T* g, int64_t rows,
                             int64_t columns, T* grad_x) {
  for_each_row_range(rows, [&](RowRange range) {
    kernels::normalize_rows_backward(normal, inv_std, g, range, columns, grad_x);
  });
}

#define EGC_INSTANTIATE(T)                                             \
  template void normalize_rows(const T*, int64_t, int64_t, T, T*, T*); \
  template void normalize_rows_backward(const T*, const T*, const T*, int64_t, int64_t, T*)
EGC_INSTANTIATE(float);
EGC_INSTANTIATE(double);
#undef EGC_INSTANTIATE

}  // namespace egc
