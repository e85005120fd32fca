// The rows of an edge term as the engine takes them, and their gradient.
#pragma once

#include <vector>

#include "egc/engine/fused.h"
#include "egc/ops/edge_term.h"
#include "egc/tensor/gradient.h"

namespace egc::ops {

// Throws kUsage, naming the operation, unless the parts have C = columns columns and fit the edge
// features of the graph.
void check_edge_term(const char* operation, const EdgeTerm& term, const Csr& graph, int64_t columns,
                     DType type);

// [num_edge_rows(graph), columns of the layout] in the layout; undefined where the term is absent.
Tensor edge_rows(const EdgeTerm& term, const Csr& graph, const SliceLayout& layout, DType type);

// From the gradient of these rows to those of the parts.
void add_edge_gradients(const EdgeTerm& term, const Csr& graph, const SliceLayout& layout,
                        const Tensor& grad_rows);

// Where the engine finds the rows.
template <class T>
EdgeRows<T> borrow_edges(const EdgeTerm& term, const Tensor& rows) {
  return {rows.defined() ? rows.data<T>() : nullptr, term.relu};
}

}  // namespace egc::ops
