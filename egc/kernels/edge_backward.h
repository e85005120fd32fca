// The passes of the fused backward over graphs whose edges add a term to messages. Pass 1 is that
// of fused_aggregate_backward.h. Gradients of the term are [table; linear], EdgeTerm::rows() by
// columns; nothing has the size of the edges.
#pragma once

#include <cstdint>

#include "egc/kernels/fused_aggregate_backward.h"

namespace egc::kernels {

// Elements of scratch of a call of either pass.
template <class T>
int64_t edge_scratch_size(const EdgeTerm<T>& term, int64_t columns) {
  return term.rows() * columns;
}

// Pass 2. As backward_sources(); `edges` is the term with the features of the edges of
// `transposed`. grad_term is added to, and may be null.
template <class T>
void backward_edge_sources(const FusedShape& shape, const FusedInput<T>& input, CsrView transposed,
                           const EdgeTerm<T>& edges, RowRange sources, const T* records,
                           T* grad_bases, T* grad_term, T* scratch);

// Pass 3. As backward_winners(), where winners are places in their row, its length for the added
// loop. grad_term is added to; scratch: that of all columns, of which [begin, end) are touched.
template <class T>
void backward_edge_winners(const CsrView& graph, const EdgeTerm<T>& edges, int64_t columns,
                           int64_t begin, int64_t end, Winners<const T> winners, T* grad_bases,
                           T* grad_term, T* scratch);

}  // namespace egc::kernels
