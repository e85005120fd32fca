// A folded batch norm, ReLU and residual that an operator applies to the rows it has just finished.
// For inference only: it has no gradient.
#pragma once

#include "egc/engine/epilogue.h"
#include "egc/tensor/tape.h"

namespace egc::ops {

// y * scale + shift, then ReLU, then + residual; each step is optional.
struct EpilogueTensors {
  Tensor scale;       // [1, columns]; defined exactly when shift is
  Tensor shift;       // [1, columns]
  bool relu = false;  // apply ReLU
  Tensor residual;    // [N, columns] or undefined

  // Whether there is nothing to apply.
  bool empty() const { return !scale.defined() && !relu && !residual.defined(); }
};

// The tensor's values; null if it is undefined.
template <class T>
T* pointer(const Tensor& t) {
  return t.defined() ? t.data<T>() : nullptr;
}

// Pointers to the epilogue of an output [rows, columns] of type T. Throws kUsage where shapes do
// not fit, or where the operator is recorded for a backward pass.
template <class T>
Epilogue<T> borrow(const EpilogueTensors& e, int64_t rows, int64_t columns, bool recorded) {
  Epilogue<T> out;
  if (e.empty()) return out;
  check(!recorded, "epilogue: it has no gradient; fold it into passes of inference only");
  check(e.scale.defined() == e.shift.defined(), "epilogue: scale and shift come together");
  if (e.scale.defined()) {
    expect_matrix("epilogue", "scale", e.scale, 1, columns, dtype_of<T>());
    expect_matrix("epilogue", "shift", e.shift, 1, columns, dtype_of<T>());
  }
  if (e.residual.defined())
    expect_matrix("epilogue", "residual", e.residual, rows, columns, dtype_of<T>());
  out.op.scale = pointer<T>(e.scale);
  out.op.shift = pointer<T>(e.shift);
  out.op.relu = e.relu;
  out.residual = pointer<T>(e.residual);
  return out;
}

}  // namespace egc::ops
