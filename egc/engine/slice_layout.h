// How the columns of the bases lie in memory.
//
// Gathering rows is bound by the caches, so a wide matrix is cut into slices that are walked one
// after the other: slice s holds, for every node, the columns [first(s), first(s) + width(s)) of
// each basis. In memory: slice by slice, in it row by row, in it basis by basis. With one slice
// this is the plain row-major matrix [N, B*L]. Cutting by l, the column within a basis, keeps the
// bases of one l together, so every slice yields finished columns of every head.
#pragma once

#include <algorithm>
#include <cstdint>

#include "egc/graph/csr.h"

namespace egc {

struct SliceLayout {
  int64_t bases = 1;        // B
  int64_t head_width = 0;   // L
  int64_t slice_width = 0;  // columns of each basis in a slice; the last one may have fewer

  static SliceLayout row_major(int64_t bases, int64_t head_width) {
    return {bases, head_width, head_width};
  }

  int64_t num_slices() const {
    return slice_width == 0 ? 0 : (head_width + slice_width - 1) / slice_width;
  }
  int64_t first(int64_t s) const { return s * slice_width; }
  int64_t width(int64_t s) const { return std::min(slice_width, head_width - first(s)); }
  int64_t row_stride(int64_t s) const { return bases * width(s); }
  // Where slice s begins, in elements, for a matrix of `rows` rows.
  int64_t offset(int64_t s, int64_t rows) const { return rows * bases * first(s); }
  int64_t columns() const { return bases * head_width; }
};

// The layout for a graph: one slice where the bases fit a cache or where rows have few neighbours
// (no reuse to win); slices that can be walked in blocks where it is dense; else slices of about
// 512 bytes a row.
SliceLayout choose_slices(const Csr& graph, int64_t bases, int64_t head_width,
                          int64_t element_size);

}  // namespace egc
