#include "egc/engine/fused.h"

#include <algorithm>
#include <cstdint>

#include "egc/core/error.h"
#include "egc/core/huge_buffer.h"
#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/engine/cache_policy.h"
#include "egc/engine/scratch.h"
#include "egc/kernels/edge_backward.h"

namespace egc {
namespace {

using kernels::FusedInput;
using kernels::FusedShape;

// What is common to all slices.
template <class T>
FusedInput<T> make_input(const FusedProblem<T>& p) {
  check_fused(p.graph, p.shape);
  check(p.weights != nullptr || p.graph.num_targets() == 0 || p.shape.fits_no_weights(),
        "fused_aggregate: without weights there is one basis and a head for each aggregator, got "
        "{} bases, {} heads and {} aggregators",
        p.shape.bases, p.shape.heads, p.shape.aggregators.size());
  FusedInput<T> in;
  in.graph = p.graph.view();
  in.graph_has_loops = p.graph.has_loops();
  in.weights = p.weights;
  if (p.shape.aggregators.has(Aggregator::kSymnorm)) {
    const bool add_loops = p.shape.self_loops != SelfLoops::kNone;
    in.source_scale = p.graph.template source_scale<T>(add_loops).data();
    in.target_scale = p.graph.template target_scale<T>(add_loops).data();
  }
  in.prefetch = worth_prefetching(p.graph.num_sources() * p.layout.columns() * sizeof(T));
  return in;
}

template <class T>
kernels::BasesSlice<T> slice(const FusedProblem<T>& p, int64_t s) {
  return {p.bases + p.layout.offset(s, p.graph.num_sources()), p.layout.row_stride(s),
          p.layout.first(s), p.layout.width(s)};
}

// What the edges of a graph (the problem's, or its transpose) add to the columns of a slice.
template <class T>
kernels::EdgeTerm<T> edge_term(const FusedProblem<T>& p, const Csr& graph, int64_t s) {
  kernels::EdgeTerm<T> term;
  if (p.edges.data == nullptr) return term;
  const EdgeFeatures& features = graph.edge_features();
  term.table = p.edges.data + p.layout.offset(s, num_edge_rows(p.graph));
  term.types = num_edge_types(p.graph);
  term.relu = p.edges.relu;
  if (features.has_types()) term.type = features.type.data();
  if (!features.has_values()) return term;
  term.columns = features.columns;
  term.values = graph.template edge_values<T>().data();
  term.linear = term.table + (term.types + 1) * p.layout.row_stride(s);
  return term;
}

// Whether every row of every slice of the output consists of is_aligned, aligned cache lines.
template <class T>
bool whole_lines(const FusedProblem<T>& p, const T* out) {
  bool is_aligned = is_line_multiple(reinterpret_cast<uintptr_t>(out)) &&
                    is_line_multiple(p.shape.head_width * sizeof(T));
  for (int64_t s = 0; s < p.layout.num_slices(); ++s)
    is_aligned = is_aligned && is_line_multiple(p.layout.width(s) * sizeof(T));
  return is_aligned;
}

template <class F>
void for_each_range(const std::vector<RowRange>& ranges, F&& f) {
  parallel_tasks(static_cast<int64_t>(ranges.size()), [&](int64_t task) { f(ranges[task]); });
}

// The gradients of the rows of edges: one table for each group of ranges, added up in their order.
// Groups depend on the graph alone, and the tables are no larger than the bases.
template <class T>
class EdgeTables {
 public:
  explicit EdgeTables(const FusedProblem<T>& p) {
    if (p.edges.data == nullptr) return;
    rows_ = num_edge_rows(p.graph);
    groups_ = std::clamp<int64_t>(p.graph.num_sources() / (2 * rows_), 1, kMaxGroups);
    step_ = rows_ * p.layout.bases * p.layout.slice_width;
    tables_ = make_huge_array<T>(groups_ * step_);
  }

  void clear() const { std::fill_n(tables_.get(), groups_ * step_, T{0}); }

  // Calls f(range, gradient) for all ranges, those of a group one after the other. Without edges
  // there is no gradient, and every range is a group.
  template <class F>
  void for_each_range(const std::vector<RowRange>& ranges, F&& f) const {
    const auto count = std::ssize(ranges);
    const int64_t groups = rows_ == 0 ? count : groups_;
    parallel_tasks(groups, [&](int64_t g) {
      for (int64_t r = g * count / groups; r < (g + 1) * count / groups; ++r)
        f(ranges[r], rows_ == 0 ? nullptr : tables_.get() + g * step_);
    });
  }

  void add_up(T* out, int64_t columns) const {
    const int64_t size = rows_ * columns;
    std::copy_n(tables_.get(), size, out);
    for (int64_t g = 1; g < groups_; ++g)
      for (int64_t k = 0; k < size; ++k) out[k] += tables_[g * step_ + k];
  }

 private:
  static constexpr int64_t kMaxGroups = 64;

  int64_t rows_ = 0;
  int64_t groups_ = 0;
  int64_t step_ = 0;  // from one table to the next
  decltype(make_huge_array<T>(0)) tables_;
};

}  // namespace

int64_t num_edge_types(const Csr& graph) {
  return std::max<int64_t>(1, graph.edge_features().num_types());
}

void check_fused(const Csr& graph, const FusedShape& shape) {
  check(shape.heads >= 1 && shape.bases >= 1,
        "fused_aggregate: heads and bases must be at least 1, got {} and {}", shape.heads,
        shape.bases);
  check(shape.head_width >= 0, "fused_aggregate: the width of a head must not be negative, got {}",
        shape.head_width);
  if (shape.self_loops != SelfLoops::kNone && !graph.rows_are_sources())
    fail(ErrorKind::kUsage,
         "fused_aggregate: self-loops \"{}\" need targets that are the sources, got {} other "
         "sources and {} targets",
         name_of(shape.self_loops), graph.num_sources(), graph.num_targets());
}

template <class T>
void fused_forward(const FusedProblem<T>& p, const T* bias, T* out, const Epilogue<T>& epilogue,
                   RowRange wanted) {
  const WorkTimer timer(Work::kKernels);
  FusedInput<T> common = make_input(p);
  const int64_t out_bytes = p.graph.num_targets() * p.shape.out_width() * sizeof(T);
  // An epilogue wants the rows in the caches.
  const bool stream = epilogue.empty() && worth_streaming(out_bytes) && whole_lines(p, out);
  for (int64_t s = 0; s < p.layout.num_slices(); ++s) {
    common.bases = slice(p, s);
    common.edges = edge_term(p, p.graph, s);
    const bool can_block = kernels::can_block(p.shape) && !common.edges.present();
    const Passes passes = plan_passes<T>(p.graph, can_block ? p.layout.row_stride(s) : 0);
    common.blocks = passes.blocks;
    const int64_t scratch = common.blocks.count > 0
                                ? kernels::blocked_scratch_size(p.shape)
                                : kernels::fused_scratch_size(p.shape, p.layout.slice_width);
    for_each_range(passes.rows, [&](RowRange rows) {
      rows = {std::max(rows.begin, wanted.begin), std::min(rows.end, wanted.end)};
      if (rows.begin >= rows.end) return;
      kernels::fused_aggregate(p.shape, common, rows, bias, out, stream,
                               thread_scratch<T>(scratch));
      if (epilogue.empty()) return;
      const int64_t width = p.shape.out_width();
      if (p.layout.num_slices() == 1) return epilogue.apply(rows, width, 0, width, out);
      for (int64_t h = 0; h < p.shape.heads; ++h)
        epilogue.apply(rows, width, h * p.shape.head_width + common.bases.first, common.bases.width,
                       out);
    });
  }
}

template <class T>
void fused_backward(const FusedProblem<T>& p, const T* grad_out, T* grad_bases, T* grad_weights,
                    T* grad_edges) {
  const WorkTimer timer(Work::kKernels);
  FusedInput<T> common = make_input(p);
  const Csr& transposed = p.graph.transposed();
  const kernels::RecordLayout records = kernels::record_layout(p.shape.aggregators);
  const int64_t targets = p.graph.num_targets();
  const int64_t widest = targets * p.layout.bases * p.layout.slice_width;
  // Only one slice is under way at a time, so the temporaries have the size of one.
  const auto record_rows = make_huge_array<T>(widest * records.parts());
  const auto winner_source = make_huge_array<int32_t>(widest * records.winners);
  const auto winner_gradient = make_huge_array<T>(widest * records.winners);
  const bool with_edges = p.edges.data != nullptr;
  const int64_t scratch = kernels::backward_scratch_size(p.shape, p.layout.slice_width,
                                                         with_edges ? num_edge_rows(p.graph) : 0);
  FusedShape without_loops = p.shape;
  without_loops.self_loops = SelfLoops::kNone;
  const EdgeTables<T> edge_tables(p);

  if (p.layout.num_slices() == 0 && grad_weights != nullptr)
    std::fill_n(grad_weights, targets * p.shape.weights_per_row(), T{0});
  for (int64_t s = 0; s < p.layout.num_slices(); ++s) {
    common.bases = slice(p, s);
    common.edges = edge_term(p, p.graph, s);
    edge_tables.clear();
    edge_tables.for_each_range(p.graph.row_ranges(), [&](RowRange rows, T* grad_term) {
      kernels::backward_rows(p.shape, common, rows, grad_out, grad_weights, record_rows.get(),
                             {winner_source.get(), winner_gradient.get()}, grad_term,
                             thread_scratch<T>(scratch));
    });
    T* out = grad_bases + p.layout.offset(s, p.graph.num_sources());
    const kernels::EdgeTerm<T> edges = edge_term(p, transposed, s);
    edge_tables.for_each_range(transposed.row_ranges(), [&](RowRange sources, T* grad_term) {
      const auto pass = [&](const FusedShape& shape, RowRange part) {
        if (part.begin >= part.end) return;
        T* const own_scratch = thread_scratch<T>(scratch);
        if (with_edges)
          kernels::backward_edge_sources(shape, common, transposed.view(), edges, part,
                                         record_rows.get(), out, grad_term, own_scratch);
        else
          kernels::backward_sources(shape, common, transposed.view(), part, record_rows.get(), out,
                                    own_scratch);
      };
      const int64_t own = std::clamp(targets, sources.begin, sources.end);
      pass(p.shape, {sources.begin, own});
      // Sources that are no rows here have their loops elsewhere.
      pass(without_loops, {own, sources.end});
    });
    // Threads own columns here, is_aligned vectors of them, as many as there are for each. However
    // they are cut, each element is added to in the order of the targets.
    const int64_t columns = p.layout.row_stride(s);
    const int64_t tasks = targets * columns < (1 << 16) ? 1 : num_threads();
    const int64_t group = ((columns + tasks - 1) / tasks + 15) / 16 * 16;
    for (int64_t k = 0; k < records.winners; ++k) {
      const int64_t at = k * targets * columns;
      parallel_tasks(tasks, [&](int64_t task) {
        kernels::backward_winners<T>(common.graph, p.shape.self_loops == SelfLoops::kAll,
                                     !common.prefetch, columns, std::min(columns, task * group),
                                     std::min(columns, (task + 1) * group),
                                     {winner_source.get() + at, winner_gradient.get() + at}, out);
      });
    }
    if (with_edges && grad_edges != nullptr)
      edge_tables.add_up(grad_edges + p.layout.offset(s, num_edge_rows(p.graph)), columns);
  }
}

template void fused_forward(const FusedProblem<float>&, const float*, float*,
                            const Epilogue<float>&, RowRange);
template void fused_forward(const FusedProblem<double>&, const double*, double*,
                            const Epilogue<double>&, RowRange);
template void fused_backward(const FusedProblem<float>&, const float*, float*, float*, float*);
template void fused_backward(const FusedProblem<double>&, const double*, double*, double*, double*);

}  // namespace egc
