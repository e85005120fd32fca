// The source pass of the fused backward over graphs whose edges add a term to messages. The passes
// before and after it are those of fused_aggregate_backward.h. Gradients of the term are
// [table; linear], EdgeTerm::rows() by columns; nothing has the size of the edges.
#pragma once

#include <cstdint>

#include "egc/kernels/fused_aggregate_backward.h"

namespace egc::kernels {

// Pass 2. As backward_sources(); `edges` is the term with the features of the edges of
// `transposed`. grad_term is added to, and may be null. scratch: as of backward_rows().
template <class T>
void backward_edge_sources(const FusedShape& shape, const FusedInput<T>& input, CsrView transposed,
                           const EdgeTerm<T>& edges, RowRange sources, const T* records,
                           T* grad_bases, T* grad_term, T* scratch);

}  // namespace egc::kernels
