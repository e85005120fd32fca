// Fused EGC aggregation, backward, in three passes and O(V) memory (docs/kernels.md):
//   1. over targets: recompute the aggregates, give dweights and one record per target;
//   2. over sources, on the transposed graph: add up the records of the targets that used it;
//   3. over columns: hand the gradients of max and min to their winners (winners.h).
#pragma once

#include <cstdint>

#include "egc/kernels/fused_aggregate.h"
#include "egc/kernels/winners.h"

namespace egc::kernels {

// Parts of a record, each [B, width] values, next to each other in this order when present.
struct RecordLayout {
  bool plain = false;    // P: flows to x_j as it is (add, mean)
  bool sym = false;      // Q: flows as s_j * Q (symnorm)
  bool squares = false;  // K and the mean m: flow as K * (x_j - m) (var, std)
  int winners = 0;       // max and min: stored apart, as (source, gradient)

  int sums() const { return int{plain} + int{sym}; }  // parts that are only added up
  int parts() const { return sums() + 2 * int{squares}; }
};
RecordLayout record_layout(const AggregatorSet& aggregators);

// edge_rows: EdgeTerm::rows(); 0 without a term.
int64_t backward_scratch_size(const FusedShape& shape, int64_t slice_width, int64_t edge_rows = 0);

// Pass 1. grad_out: [N, H*L]. dweights [N, H, A, B] is set by the first slice and added to by the
// others; null where nobody asks, and without weights. records: [N, parts, B*width]. grad_term:
// where edges add a term, its gradient from max and min is added to it; may be null.
template <class T>
void backward_rows(const FusedShape& shape, const FusedInput<T>& input, RowRange rows,
                   const T* grad_out, T* dweights, T* records, Winners<T> winners, T* grad_term,
                   T* scratch);

// Pass 2. `transposed` has the sources of the graph as its rows. grad_bases: [num_sources,
// B*width].
template <class T>
void backward_sources(const FusedShape& shape, const FusedInput<T>& input, CsrView transposed,
                      RowRange sources, const T* records, T* grad_bases, T* scratch);

}  // namespace egc::kernels
