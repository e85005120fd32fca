// A folded batch norm, ReLU and residual that an operator applies to the rows it has just finished
// (engine/epilogue.h). For inference: it has no gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/core/error.h"
#include "egc/engine/epilogue.h"

namespace egc::ops {

struct EpilogueTensors {
  at::Tensor scale;  // [columns], with shift, or both undefined
  at::Tensor shift;  // [columns]
  bool relu = false;
  at::Tensor residual;  // [N, columns] or undefined

  bool empty() const { return !scale.defined() && !relu && !residual.defined(); }
};

// Borrowed pointers for an output [rows, columns] of type T.
template <class T>
Epilogue<T> borrow(const EpilogueTensors& e, int64_t rows, int64_t columns, bool needs_gradient) {
  Epilogue<T> out;
  if (e.empty()) return out;
  check(!needs_gradient, "epilogue: it has no gradient; wrap inference in a NoGradGuard");
  const auto pointer = [&](const at::Tensor& t, at::IntArrayRef sizes, const char* what) {
    if (!t.defined()) return static_cast<const T*>(nullptr);
    check(t.sizes() == sizes && t.is_contiguous(), "epilogue: {} must be contiguous [{}], got [{}]",
          what, fmt::join(sizes, ", "), fmt::join(t.sizes(), ", "));
    return static_cast<const T*>(t.template data_ptr<T>());
  };
  check(e.scale.defined() == e.shift.defined(), "epilogue: scale and shift come together");
  out.op.scale = pointer(e.scale, {columns}, "scale");
  out.op.shift = pointer(e.shift, {columns}, "shift");
  out.op.relu = e.relu;
  out.residual = pointer(e.residual, {rows, columns}, "residual");
  return out;
}

}  // namespace egc::ops
