// Sparse times dense over a whole graph, with threads.
#pragma once

#include <cstdint>

#include "egc/engine/slice_layout.h"
#include "egc/graph/csr.h"

namespace egc {

// out[i] = sum of e_ij * x[j].   x: [num_sources, columns] in `layout`.   out: [N, columns]
// row-major.
template <class T>
void spmm(const Csr& graph, const SliceLayout& layout, const T* x, T* out);

// Row-major x.
template <class T>
void spmm(const Csr& graph, const T* x, int64_t columns, T* out) {
  spmm(graph, SliceLayout::row_major(1, columns), x, out);
}

}  // namespace egc
