// Sums of dense products, x W' and its relatives: one output from several inputs, towers (block
// diagonal weights) or both. Threads never change a bit (blocked_gemm.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "egc/ops/epilogue.h"

namespace egc::ops {

// out[:, out_column ...] += inputs[input][:, in_column ...] * weights[weight]'
struct LinearTerm {
  int input = 0;
  int64_t in_column = 0;
  int weight = 0;
  int64_t out_column = 0;
};

// inputs: [N, F_k] each.   weights: [o, i] each.   bias: [out_columns] or undefined.
// Terms of one output range follow each other. Ranges, of the output and of an input, are the same
// or do not meet.
// Result: [N, out_columns], all of it covered by terms. Differentiable in inputs, weights and bias.
at::Tensor linear_sum(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& weights,
                      const std::vector<LinearTerm>& terms, const at::Tensor& bias,
                      int64_t out_columns, const EpilogueTensors& epilogue = {});

// x: [N, F].   weight: [O, F].   bias: [O] or undefined.   Result: [N, O].
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  const EpilogueTensors& epilogue = {});

}  // namespace egc::ops
