// Where the gradient with respect to one tensor is gathered during a backward pass.
#pragma once

#include <functional>

#include "egc/tensor/tensor.h"

namespace egc {

class Gradient {
 public:
  // Undefined before anything came.
  const Tensor& value() const { return value_; }
  Tensor take() { return std::exchange(value_, Tensor()); }

  // Adds a finished gradient; the first one is taken over without a copy.
  void add(const Tensor& gradient);

  // A place for an operator to write to. The first to ask writes, the others add: nothing is filled
  // with zeros only to be added to.
  struct Sink {
    Tensor to;
    bool accumulate = false;
  };
  Sink sink(int64_t rows, int64_t columns, DType type);

  // Called in the backward pass when everybody has added: for parameters that travel early.
  std::function<void()> on_complete;

 private:
  friend class Tape;
  Tensor value_;
  int64_t pending_ = 0;  // recorded operators whose backward pass may still add
};

}  // namespace egc
