#include "egc/engine/spmm.h"

#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/engine/cache_policy.h"
#include "egc/kernels/spmm.h"

namespace egc {

template <class T>
void spmm(const Csr& graph, const SliceLayout& layout, const T* x, T* out) {
  const WorkTimer timer(Work::kKernels);
  const int64_t columns = layout.columns();
  kernels::SpmmArgs<T> args;
  args.graph = graph.view();
  args.out_stride = columns;
  args.prefetch = worth_prefetching(graph.num_sources() * columns * sizeof(T));
  for (int64_t s = 0; s < layout.num_slices(); ++s) {
    args.x = x + layout.offset(s, graph.num_sources());
    args.x_stride = args.columns = layout.row_stride(s);
    args.out = out + layout.bases * layout.first(s);
    args.stream = worth_streaming(graph.num_targets() * columns * sizeof(T)) &&
                  is_line_multiple(reinterpret_cast<uintptr_t>(args.out)) &&
                  is_line_multiple(columns * sizeof(T)) &&
                  is_line_multiple(args.columns * sizeof(T));
    const Passes passes = plan_passes<T>(graph, args.columns);
    args.blocks = passes.blocks;
    parallel_tasks(static_cast<int64_t>(passes.rows.size()),
                   [&](int64_t task) { kernels::spmm(args, passes.rows[task]); });
  }
}

template void spmm(const Csr&, const SliceLayout&, const float*, float*);
template void spmm(const Csr&, const SliceLayout&, const double*, double*);

}  // namespace egc
