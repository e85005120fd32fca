// Batch normalisation, ReLU, dropout and residual as one differentiable operator:
//   y = dropout(relu(batch_norm(x))) + residual
// Only x and the statistics are kept for the backward pass: what passed the ReLU and the dropout is
// recomputed.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/ops/epilogue.h"

namespace egc::ops {

struct BatchNormTensors {
  at::Tensor weight;        // [C]
  at::Tensor bias;          // [C]
  at::Tensor running_mean;  // [C], moved towards the batch's in training
  at::Tensor running_var;   // [C]
  double momentum = 0.1;
  double eps = 1e-5;
};

// x, residual: [N, C]; residual may be undefined. In training the statistics are those of the batch
// (at least two rows); else the running ones. Dropout acts in training only; its draws come from
// the default generator's seed and do not depend on the threads.
at::Tensor batch_norm_act(const at::Tensor& x, const BatchNormTensors& norm, bool training,
                          bool relu, double dropout, const at::Tensor& residual);

// Dropout alone, scaled up by 1 / (1 - p), or after a ReLU.
at::Tensor dropout(const at::Tensor& x, double p, bool training);
at::Tensor relu_dropout(const at::Tensor& x, double p, bool training);

// An epilogue over a finished matrix, for operators that cannot fold it in.
at::Tensor apply_epilogue(const at::Tensor& y, const EpilogueTensors& epilogue);

}  // namespace egc::ops
