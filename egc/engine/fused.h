// The fused EGC operator over a whole graph, on plain buffers, with threads. Every output row is
// owned by one task and tasks depend on the graph alone: the same bits for any number of threads.
#pragma once

#include "egc/engine/epilogue.h"
#include "egc/engine/slice_layout.h"
#include "egc/graph/csr.h"
#include "egc/kernels/fused_aggregate.h"

namespace egc {

// What the edges of a graph add to messages.
template <class T>
struct EdgeRows {
  // [num_edge_rows(graph), B*L] in the layout; null: edges add nothing. First the rows of the types
  // of edges, then that of added loops, then one for each number of an edge.
  const T* data = nullptr;
  bool relu = false;  // of x_j + e
};
// Types of edges that these rows distinguish: those of the graph, at least one.
int64_t num_edge_types(const Csr& graph);
inline int64_t num_edge_rows(const Csr& graph) {
  return num_edge_types(graph) + 1 + graph.edge_features().columns;
}

template <class T>
struct FusedProblem {
  const Csr& graph;
  const kernels::FusedShape& shape;
  SliceLayout layout;          // of bases and of their gradient
  const T* bases = nullptr;    // [num_sources, B*L] in that layout
  const T* weights = nullptr;  // [N, H, A, B]; null: of one basis, head a is aggregate a
  EdgeRows<T> edges{};
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
// grad_edges: as the rows of edges; null where edges add nothing.
template <class T>
void fused_backward(const FusedProblem<T>& problem, const T* grad_out, T* grad_bases,
                    T* grad_weights, T* grad_edges = nullptr);

// Throws unless the shape fits the graph (self-loops need a square one).
void check_fused(const Csr& graph, const kernels::FusedShape& shape);

}  // namespace egc
