// Dense products x W' and sums of them: one output from several inputs, from block-diagonal weights
// (towers), or both.
#pragma once

#include <vector>

#include "egc/ops/epilogue.h"

namespace egc::ops {

// One product of linear_sum():
//   out[:, out_column ...] += inputs[input][:, in_column ...] * block'
// where block is weights[weight], or its [rows, columns] from (weight_row, weight_column).
struct LinearTerm {
  int input = 0;               // index into inputs
  int64_t in_column = 0;       // first column of the input
  int weight = 0;              // index into weights
  int64_t out_column = 0;      // first column of the output
  int64_t weight_row = 0;      // first row of the block
  int64_t rows = kAnySize;     // of the block; kAnySize: to the end
  int64_t weight_column = 0;   // first column of the block
  int64_t columns = kAnySize;  // of the block; kAnySize: to the end
};

// Sum of products. inputs: [N, F_k] each.   weights: [o, i] each.   bias: [1, out_columns] or
// undefined.   Result: [N, out_columns]. Differentiable in inputs, weights and bias. Terms must
// cover all output columns, and those of one output range must be adjacent. Any two ranges of the
// output, of an input or of a weight must be equal or disjoint.
Tensor linear_sum(Tape& tape, const std::vector<Tensor>& inputs, const std::vector<Tensor>& weights,
                  const std::vector<LinearTerm>& terms, const Tensor& bias, int64_t out_columns,
                  const EpilogueTensors& epilogue = {});

// x W' + bias, like torch.nn.functional.linear. x: [N, F].   weight: [O, F].   bias: [1, O] or
// undefined.   Result: [N, O].
Tensor linear(Tape& tape, const Tensor& x, const Tensor& weight, const Tensor& bias,
              const EpilogueTensors& epilogue = {});

}  // namespace egc::ops
