// Operators of egc on LibTorch tensors, with gradients through LibTorch's autograd.
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

// Computes one matrix from several. Must be deterministic: it may run twice with the same inputs.
using Operator = std::function<Tensor(Tape& tape, const std::vector<Tensor>& inputs)>;

// Runs an operator. `operation` names it in errors. Inputs are float32 or float64 on the CPU;
// undefined tensors stay undefined, vectors become one row. The result is a matrix.
//
// A second backward pass over a retained graph runs the operator again. Second derivatives and
// forward-mode differentiation throw.
at::Tensor run(const std::string& operation, const Operator& op,
               const std::vector<at::Tensor>& inputs);

// A tensor of LibTorch without a copy if it is contiguous; all dimensions but the last become rows.
Tensor borrow(const std::string& operation, const at::Tensor& t);

// The same matrix as a tensor of LibTorch; shares memory.
at::Tensor to_torch(const Tensor& t);

// Shape and type for messages: "[3, 4] Float".
std::string describe(const at::Tensor& t);

}  // namespace egc::torch
