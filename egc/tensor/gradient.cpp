#include "egc/tensor/gradient.h"

#include "egc/core/parallel.h"
#include "egc/graph/row_split.h"

namespace egc {
namespace {

template <class T>
void add_values(const Tensor& a, const Tensor& b, const Tensor& to) {
  constexpr int64_t kBlock = 1 << 16;
  const T* x = a.data<T>();
  const T* y = b.data<T>();
  T* out = to.data<T>();
  const auto blocks = split_evenly(a.size(), kBlock);
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t k) {
    for (int64_t i = blocks[k].begin; i < blocks[k].end; ++i) out[i] = x[i] + y[i];
  });
}

}  // namespace

void Gradient::add(const Tensor& gradient) {
  if (!value_.defined()) {
    if (memory_.defined()) memory_.copy_from(gradient);
    value_ = memory_.defined() ? memory_ : gradient.detached();
    return;
  }
  expect_matrix("gradient", "what is added", gradient, value_.rows(), value_.columns(),
                value_.dtype());
  // A buffer that somebody else holds too must not change.
  const Tensor sum = value_.is_sole_owner() || memory_.defined()
                         ? value_
                         : Tensor::empty(value_.rows(), value_.columns(), value_.dtype());
  with_type(value_.dtype(), [&](auto zero) { add_values<decltype(zero)>(value_, gradient, sum); });
  value_ = sum;
}

Gradient::Sink Gradient::sink(int64_t rows, int64_t columns, DType type) {
  if (!value_.defined()) {
    if (memory_.defined()) expect_matrix("gradient", "its memory", memory_, rows, columns, type);
    value_ = memory_.defined() ? memory_ : Tensor::empty(rows, columns, type);
    return {value_, false};
  }
  expect_matrix("gradient", "what is added to", value_, rows, columns, type);
  if (!value_.is_sole_owner() && !memory_.defined()) value_ = value_.clone();
  return {value_, true};
}

}  // namespace egc
