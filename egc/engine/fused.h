// The fused EGC operator over a whole graph, on plain buffers, with threads. Every output row is
// owned by one task and tasks depend on the graph alone: the same bits for any number of threads.
#pragma once

#include "egc/engine/epilogue.h"
#include "egc/engine/slice_layout.h"
#include "egc/graph/csr.h"
#include "egc/kernels/fused_aggregate.h"

namespace egc {

template <class T>
struct FusedProblem {
  const Csr& graph;
  const kernels::FusedShape& shape;
  SliceLayout layout;          // of bases and of their gradient
  const T* bases = nullptr;    // [num_sources, B*L] in that layout
  const T* weights = nullptr;  // [N, H, A, B]; null: of one basis, head a is aggregate a
};

// out: [N, H*L] row-major.   bias: [H*L] or null.   rows: of all, those that are computed.
template <class T>
void fused_forward(const FusedProblem<T>& problem, const T* bias, T* out,
                   const Epilogue<T>& epilogue, RowRange rows);
template <class T>
void fused_forward(const FusedProblem<T>& problem, const T* bias, T* out,
                   const Epilogue<T>& epilogue = {}) {
  fused_forward(problem, bias, out, epilogue, {0, problem.graph.num_targets()});
}

// grad_out: [N, H*L].   grad_bases: as bases.   grad_weights: as weights; null: nobody asks.
template <class T>
void fused_backward(const FusedProblem<T>& problem, const T* grad_out, T* grad_bases,
                    T* grad_weights);

// Throws unless the shape fits the graph (self-loops need a square one).
void check_fused(const Csr& graph, const kernels::FusedShape& shape);

}  // namespace egc
