#include "egc/ops/normalize_rows.h"

#include "egc/core/error.h"
#include "egc/engine/layer_norm.h"

namespace egc::ops {

Tensor normalize_rows(Tape& tape, const Tensor& x, double eps) {
  expect_matrix("layer norm", "x", x);
  Tensor out = Tensor::empty(x.rows(), x.columns(), x.dtype());
  const Tensor inv_std = Tensor::empty(x.rows(), 1, x.dtype());
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    egc::normalize_rows(static_cast<const T*>(x.data<T>()), x.rows(), x.columns(),
                        static_cast<T>(eps), out.data<T>(), inv_std.data<T>());
  });
  if (tape.wants({&x}))
    tape.record(out, {x}, [x, normal = out.detached(), inv_std](const Tensor& g) {
      const Tensor grad = Tensor::empty(g.rows(), g.columns(), g.dtype());
      with_type(g.dtype(), [&](auto zero) {
        using T = decltype(zero);
        egc::normalize_rows_backward(
            static_cast<const T*>(normal.data<T>()), static_cast<const T*>(inv_std.data<T>()),
            static_cast<const T*>(g.data<T>()), g.rows(), g.columns(), grad.data<T>());
      });
      x.gradient()->add(grad);
    });
  return out;
}

}  // namespace egc::ops
