// What inference applies to the rows of an output while they are still in the cache: folded batch
// norm, ReLU and residual. A block of a network then writes its output once.
#pragma once

#include "egc/kernels/norm_act.h"

namespace egc {

// An epilogue on pointers; ops::EpilogueTensors is the one that layers take.
template <class T>
struct Epilogue {
  kernels::NormAct<T> op;       // scale, shift and ReLU
  const T* residual = nullptr;  // [N, columns], or null

  // Whether there is nothing to apply.
  bool empty() const { return op.scale == nullptr && !op.relu && residual == nullptr; }

  // Applies it to some rows of out: [N, columns], columns [first, first + width) only.
  void apply(RowRange rows, int64_t columns, int64_t first, int64_t width, T* out) const {
    kernels::norm_act(op, rows, columns, first, width, out, residual, out,
                      static_cast<T*>(nullptr));
  }
};

}  // namespace egc
