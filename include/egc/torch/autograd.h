// Operators of egc on LibTorch's tensors, with gradients by LibTorch's autograd.
//
//   at::Tensor y = egc::torch::run("spmm", [graph](egc::Tape& tape, const auto& in) {
//     return egc::ops::spmm(tape, graph, in[0]);
//   }, {x});
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "egc/tensor/tape.h"

namespace egc::torch {

// One matrix from several. It computes the same every time it is called with the same inputs.
using Operator = std::function<Tensor(Tape& tape, const std::vector<Tensor>& inputs)>;

// `operation` is named in errors. Inputs are float32 or float64 in the CPU's memory; an undefined
// one reaches the operator undefined, a vector as one row. The result is a matrix.
//
// A second backward pass over a retained graph runs the operator again. Second derivatives and
// forward-mode differentiation are refused.
at::Tensor run(const std::string& operation, const Operator& op,
               const std::vector<at::Tensor>& inputs);

// The tensor's own memory, which is kept as long as it is used; copied where it is not contiguous.
// All dimensions but the last are rows.
Tensor borrow(const std::string& operation, const at::Tensor& t);

// The matrix' own memory.
at::Tensor to_torch(const Tensor& t);

// "[3, 4] Float", for messages.
std::string describe(const at::Tensor& t);

}  // namespace egc::torch
