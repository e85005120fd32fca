// Sums of dense products, x W' and its relatives: one output from several inputs, towers (block
// diagonal weights) or both.
#pragma once

#include <vector>

#include "egc/ops/epilogue.h"

namespace egc::ops {

// out[:, out_column ...] += inputs[input][:, in_column ...] * block'
// where block is weights[weight], or [rows, columns] of it from (weight_row, weight_column).
struct LinearTerm {
  int input = 0;
  int64_t in_column = 0;
  int weight = 0;
  int64_t out_column = 0;
  int64_t weight_row = 0;
  int64_t rows = kAnySize;
  int64_t weight_column = 0;
  int64_t columns = kAnySize;
};

// inputs: [N, F_k] each.   weights: [o, i] each.   bias: [1, out_columns] or undefined.
// Terms of one output range follow each other. Ranges, of the output, of an input and of a weight,
// are the same or do not meet.
// Result: [N, out_columns], all of it covered by terms. Differentiable in inputs, weights and bias.
Tensor linear_sum(Tape& tape, const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights,
                  const std::vector<LinearTerm>& terms, const Tensor& bias, int64_t out_columns,
                  const EpilogueTensors& epilogue = {});

// x: [N, F].   weight: [O, F].   bias: [1, O] or undefined.   Result: [N, O].
Tensor linear(Tape& tape, const Tensor& x, const Tensor& weight, const Tensor& bias,
              const EpilogueTensors& epilogue = {});

}  // namespace egc::ops
