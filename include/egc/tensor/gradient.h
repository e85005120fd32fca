// Gradients of tensors, as a backward pass accumulates them.
#pragma once

#include <functional>

#include "egc/tensor/tensor.h"

namespace egc {

// The gradient with respect to one tensor.
class Gradient {
 public:
  Gradient() = default;  // nothing yet
  // Contributions are written and added to this matrix.
  explicit Gradient(Tensor memory) : memory_(std::move(memory)) {}

  // The gradient; undefined before the first contribution.
  const Tensor& value() const { return value_; }
  // Returns the gradient and resets it to undefined.
  Tensor take() { return std::exchange(value_, Tensor()); }

  // Adds a contribution; the first one is kept without a copy.
  void add(const Tensor& gradient);

  // A buffer for an operator to write its contribution to. The first contribution overwrites it and
  // later ones are added, so buffers are not zeroed first.
  struct Sink {
    Tensor to;                // where to write
    bool accumulate = false;  // true: add to the values; false: overwrite them
  };
  // The buffer for the next contribution, [rows, columns].
  Sink sink(int64_t rows, int64_t columns, DType type);

  // Called during the backward pass once the gradient is complete, for instance to send it early.
  std::function<void()> on_complete;

 private:
  friend class Tape;
  Tensor value_;
  Tensor memory_;        // where value_ has to be; undefined: anywhere
  int64_t pending_ = 0;  // recorded operators whose backward pass may still add
};

}  // namespace egc
