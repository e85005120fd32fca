// Sparse times dense: out[i] = sum over in-edges (j -> i) of e_ij * x[j].
#pragma once

#include <cstdint>

#include "egc/kernels/csr_view.h"

namespace egc::kernels {

template <class T>
struct SpmmArgs {
  CsrView graph;
  const T* x = nullptr;  // [num_sources, columns], rows x_stride apart
  int64_t x_stride = 0;
  int64_t columns = 0;
  T* out = nullptr;  // [num_targets, columns], rows out_stride apart
  int64_t out_stride = 0;
  bool prefetch = false;    // pays when x does not fit the caches
  bool stream = false;      // writes around the caches; needs 64-byte aligned output rows
  SourceBlocksView blocks;  // as in csr_view.h
};

template <class T>
void spmm(const SpmmArgs<T>& args, RowRange rows);

}  // namespace egc::kernels
