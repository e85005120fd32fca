#include "egc/engine/attention.h"

#include <algorithm>
#include <vector>

#include "egc/core/huge_buffer.h"
#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/engine/cache_policy.h"
#include "egc/engine/scratch.h"

namespace egc {
namespace {

int64_t longest_row(const Csr& graph, RowRange rows) {
  const auto offsets = graph.offsets();
  int64_t most = 0;
  for (int64_t i = rows.begin; i < rows.end; ++i)
    most = std::max(most, offsets[i + 1] - offsets[i]);
  return most;
}

template <class T>
void complete(const Csr& graph, kernels::AttentionInput<T>& in) {
  in.graph = graph.view();
  in.prefetch = worth_prefetching(graph.num_sources() * in.columns() * sizeof(T));
}

// Rows longer than this have scratch of their own, which no thread keeps.
constexpr int64_t kLongestKept = 1 << 16;

// Calls f(task, rows, scratch, neighbours) for the row ranges of a graph.
template <class T, class F>
void for_each_range(const Csr& graph, int64_t heads, F&& f) {
  const auto& ranges = graph.row_ranges();
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) {
    const int64_t longest = longest_row(graph, ranges[task]);
    const int64_t values = kernels::attention_scratch_size(heads, longest);
    if (longest <= kLongestKept)
      return f(task, ranges[task], thread_scratch<T>(values), thread_scratch<int32_t>(longest + 1));
    const auto scratch = make_huge_array<T>(values);
    const auto neighbours = make_huge_array<int32_t>(longest + 1);
    f(task, ranges[task], scratch.get(), neighbours.get());
  });
}

}  // namespace

template <class T>
void attention_forward(const Csr& graph, kernels::AttentionInput<T> in, const T* bias, T* out,
                       const kernels::AttentionSaved<T>& saved, const Epilogue<T>& epilogue) {
  const WorkTimer timer(Work::kKernels);
  complete(graph, in);
  const int64_t columns = in.columns();
  for_each_range<T>(graph, in.heads, [&](int64_t, RowRange rows, T* scratch, int32_t* neighbours) {
    kernels::attention_forward(in, rows, bias, out, saved, scratch, neighbours);
    if (!epilogue.empty()) epilogue.apply(rows, columns, 0, columns, out);
  });
}

template <class T>
void attention_backward(const Csr& graph, kernels::AttentionInput<T> in,
                        kernels::AttentionGrad<T> grad, const AttentionGradients<T>& out) {
  const WorkTimer timer(Work::kKernels);
  complete(graph, in);
  const int64_t columns = in.columns();
  const auto records = make_huge_array<T>(graph.num_targets() * 4 * in.heads);
  grad.records = records.get();
  // The attention vector's gradient is added up range by range.
  std::vector<T> partial(in.is_v2 ? graph.row_ranges().size() * columns : 0, T{0});
  for_each_range<T>(
      graph, in.heads, [&](int64_t task, RowRange rows, T* scratch, int32_t* neighbours) {
        kernels::attention_targets(in, grad, rows, out.target_score, out.query,
                                   in.is_v2 ? partial.data() + task * columns : nullptr, scratch,
                                   neighbours);
      });
  if (in.is_v2) {
    std::fill_n(out.attention, columns, T{0});
    for (size_t k = 0; k < partial.size(); ++k)
      out.attention[static_cast<int64_t>(k) % columns] += partial[k];
  }
  const Csr& transposed = graph.transposed();
  for_each_range<T>(transposed, in.heads,
                    [&](int64_t, RowRange sources, T* scratch, int32_t* neighbours) {
                      kernels::attention_sources(in, grad, transposed.view(), sources, out.values,
                                                 out.source_score, scratch, neighbours);
                    });
}

#define EGC_INSTANTIATE(T)                                                                \
  template void attention_forward(const Csr&, kernels::AttentionInput<T>, const T*, T*,   \
                                  const kernels::AttentionSaved<T>&, const Epilogue<T>&); \
  template void attention_backward(const Csr&, kernels::AttentionInput<T>,                \
                                   kernels::AttentionGrad<T>, const AttentionGradients<T>&)
EGC_INSTANTIATE(float);
EGC_INSTANTIATE(double);
#undef EGC_INSTANTIATE

}  // namespace egc
