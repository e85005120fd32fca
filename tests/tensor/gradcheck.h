// Gradients against central differences, in float64.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "egc/tensor/tape.h"
#include "tests/tensor/tensors.h"

namespace egc::testing {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// The sum of the products of two matrices.
inline double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t k = 0; k < a.size(); ++k) sum += a.data<double>()[k] * b.data<double>()[k];
  return sum;
}

// The derivative of `f` with respect to every element of `t`, whose memory is changed meanwhile.
inline Tensor numeric_gradient(const Tensor& t, const std::function<double()>& f,
                               double step = 1e-6) {
  const Tensor gradient = Tensor::empty(t.rows(), t.columns(), DType::kF64);
  double* x = t.data<double>();
  for (int64_t k = 0; k < t.size(); ++k) {
    const double before = x[k];
    x[k] = before + step;
    const double up = f();
    x[k] = before - step;
    const double down = f();
    x[k] = before;
    gradient.data<double>()[k] = (up - down) / (2 * step);
  }
  return gradient;
}

// `f` computes a matrix from the inputs, which have gradients. Its output is projected on a random
// matrix, so that every element counts.
inline void expect_gradients(const std::vector<NamedTensor>& inputs,
                             const std::function<Tape()>& new_tape,
                             const std::function<Tensor(Tape&)>& f, double tolerance = 1e-6) {
  for (const NamedTensor& in : inputs) in.tensor.gradient()->take();
  Tape tape = new_tape();
  const Tensor y = f(tape);
  const Tensor upstream = random_tensor(y.rows(), y.columns(), 99);
  tape.backward(y, upstream);
  for (const NamedTensor& in : inputs) {
    const Tensor numeric = numeric_gradient(in.tensor, [&] {
      Tape again = new_tape();
      return dot(f(again), upstream);
    });
    const Tensor found = in.tensor.gradient()->take();
    EXPECT_TRUE(close(
        found.defined() ? found : Tensor::zeros(numeric.rows(), numeric.columns(), DType::kF64),
        numeric, tolerance))
        << "the gradient of " << in.name;
  }
}

}  // namespace egc::testing
