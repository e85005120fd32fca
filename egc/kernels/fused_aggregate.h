// Fused EGC aggregation: every aggregator of a row in one walk over its neighbours, weighted and
// written once. Scalar truth: reference.cpp. Plain functions over a row range; no threads here.
//
// Notation (docs/kernels.md): N targets, B bases, H heads, L = width of a head, A aggregators.
//
// Without weights nothing is mixed: of one basis, head a is what the a-th aggregator gives.
#pragma once

#include <cstdint>

#include "egc/kernels/aggregator.h"
#include "egc/kernels/csr_view.h"
#include "egc/kernels/edge_term.h"

namespace egc::kernels {

// What a layer fixes: the same for every row and slice.
struct FusedShape {
  AggregatorSet aggregators;
  SelfLoops self_loops = SelfLoops::kAll;
  int64_t heads = 1;
  int64_t bases = 1;
  int64_t head_width = 0;  // L

  int64_t weights_per_row() const { return heads * aggregators.size() * bases; }
  int64_t out_width() const { return heads * head_width; }
  bool fits_no_weights() const { return bases == 1 && heads == aggregators.size(); }
};

// One column slice of the bases: of each basis the columns [first, first + width). Rows are
// [B, width] values, `row_stride` apart. The whole row-major matrix [N, B*L] is the slice
// {x, B*L, 0, L}.
template <class T>
struct BasesSlice {
  const T* data = nullptr;
  int64_t row_stride = 0;
  int64_t first = 0;
  int64_t width = 0;
};

// What forward and backward both read.
template <class T>
struct FusedInput {
  CsrView graph;
  bool graph_has_loops = false;     // whether any row lists its own target
  const T* source_scale = nullptr;  // [num_sources] 1/sqrt(deg), needed by symnorm only
  const T* target_scale = nullptr;  // [num_targets]
  BasesSlice<T> bases;
  const T* weights = nullptr;  // [N, H, A, B]; null: head a is aggregate a
  bool prefetch = false;       // pays when the bases do not fit the caches
  // With blocks: as in csr_view.h. Forward only, where can_block(); not with an edge term.
  SourceBlocksView blocks;
  EdgeTerm<T> edges;
};

// Whether rows can be put together block by block, which variances cannot.
bool can_block(const FusedShape& shape);

// Elements of scratch that one call needs, for a slice of the given width.
int64_t fused_scratch_size(const FusedShape& shape, int64_t slice_width);
int64_t blocked_scratch_size(const FusedShape& shape);

// out: [N, H*L], columns [first, first + width) of each head are written.   bias: [H*L] or null.
// `stream` writes around the caches; it needs 64-byte alignment of out, of L and of the slice.
template <class T>
void fused_aggregate(const FusedShape& shape, const FusedInput<T>& input, RowRange rows,
                     const T* bias, T* out, bool stream, T* scratch);

}  // namespace egc::kernels
