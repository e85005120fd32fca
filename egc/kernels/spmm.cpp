#include "egc/kernels/spmm.h"

#include <algorithm>
#include <type_traits>

#include "egc/kernels/simd_targets.h"
#include "egc/kernels/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "egc/kernels/spmm.cpp"
#include <hwy/foreach_target.h>

#include "egc/kernels/row_walk-inl.h"

HWY_BEFORE_NAMESPACE();
namespace egc::kernels::HWY_NAMESPACE {

template <bool kWeighted, bool kStream, class T>
void spmm_rows(const SpmmArgs<T>& a, RowRange rows) {
  constexpr AccumulatorSet kSumOnly{AccumulatorSet::kSum};
  const CsrView& g = a.graph;
  const int64_t num_edges = g.num_edges();
  const auto columns = static_cast<size_t>(a.columns);
  Row<T> row;
  row.x = a.x;
  row.stride = a.x_stride;
  row.prefetch = a.prefetch;
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    T* out = a.out + i * a.out_stride;
    const int64_t begin = g.offsets[i];
    row.source = g.sources + begin;
    if constexpr (kWeighted) row.weight = g.weights + begin;
    row.edges = g.offsets[i + 1] - begin;
    row.until_end = num_edges - begin;
    if (row.edges == 0) {
      std::fill(out, out + columns, T{0});
      continue;
    }
    for_each_block<T, max_vectors<kSumOnly, kWeighted, T, true>()>(
        columns, [&](auto d, auto vectors, size_t c0, size_t last) HWY_ATTR {
          walk_block<kSumOnly, kWeighted, vectors()>(
              d, row, c0, last, [&](const auto& acc, auto tag, const size_t* at, int64_t) HWY_ATTR {
                for (int v = 0; v < vectors(); ++v) {
                  if constexpr (kStream && kLanes<decltype(tag)> == kFullLanes<T>)
                    hn::Stream(acc.sum[v], tag, out + at[v]);
                  else
                    hn::StoreU(acc.sum[v], tag, out + at[v]);
                }
              });
        });
  }
  if (kStream) hwy::FlushStream();
}

// Blocks outside, rows inside: the gathered rows of a block stay in the second-level cache.
void spmm_blocks(const SpmmArgs<float>& a, RowRange rows) {
  const CsrView& g = a.graph;
  Row<float> row;
  row.x = a.x;
  row.stride = a.x_stride;
  PartialRow<float> to;
  for (int64_t i = rows.begin; i < rows.end; ++i)
    if (g.offsets[i] == g.offsets[i + 1])
      std::fill_n(a.out + i * a.out_stride, kBlockedColumns, 0.0F);
  for (int64_t b = 0; b < a.blocks.count; ++b)
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      point_at_block(row, g, a.blocks, b, i, rows.end);
      to.sum = a.out + i * a.out_stride;
      to.first = a.blocks.begin[b * g.num_targets + i] == 0;
      walk_partial_row<AccumulatorSet{AccumulatorSet::kSum}>(row, to);
    }
}

template <class T>
void spmm_any(const SpmmArgs<T>& a, RowRange rows) {
  if (a.graph.weights != nullptr)
    a.stream ? spmm_rows<true, true>(a, rows) : spmm_rows<true, false>(a, rows);
  else
    a.stream ? spmm_rows<false, true>(a, rows) : spmm_rows<false, false>(a, rows);
}

void spmm_f32(const SpmmArgs<float>& a, RowRange rows) {
  a.blocks.count > 0 ? spmm_blocks(a, rows) : spmm_any(a, rows);
}
void spmm_f64(const SpmmArgs<double>& a, RowRange rows) { spmm_any(a, rows); }

}  // namespace egc::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace egc::kernels {

HWY_EXPORT(spmm_f32);
HWY_EXPORT(spmm_f64);

template <>
void spmm(const SpmmArgs<float>& args, RowRange rows) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(spmm_f32)(args, rows);
}
template <>
void spmm(const SpmmArgs<double>& args, RowRange rows) {
  apply_target_from_environment();
  HWY_DYNAMIC_DISPATCH(spmm_f64)(args, rows);
}

}  // namespace egc::kernels
#endif
