// What an inference pass does with rows it has just finished, while they are still in the caches: a
// folded batch norm, ReLU and the residual. So a whole block of a network writes its output once.
#pragma once

#include "egc/kernels/norm_act.h"

namespace egc {

template <class T>
struct Epilogue {
  kernels::NormAct<T> op;
  const T* residual = nullptr;  // as the output, or null

  bool empty() const { return op.scale == nullptr && !op.relu && residual == nullptr; }

  // out: [N, columns]; only columns [first, first + width).
  void apply(RowRange rows, int64_t columns, int64_t first, int64_t width, T* out) const {
    kernels::norm_act(op, rows, columns, first, width, out, residual, out,
                      static_cast<T*>(nullptr));
  }
};

}  // namespace egc
