// Batch normalisation, ReLU, dropout and residual as one differentiable operator:
//   y = dropout(relu(batch_norm(x))) + residual
// Only x and the statistics are kept for the backward pass: what passed the ReLU and the dropout is
// recomputed.
#pragma once

#include "egc/ops/epilogue.h"

namespace egc::ops {

struct BatchNormTensors {
  Tensor weight;        // [1, C]
  Tensor bias;          // [1, C]
  Tensor running_mean;  // [1, C], moved towards the batch's in training
  Tensor running_var;   // [1, C]
  double momentum = 0.1;
  double eps = 1e-5;
};

// x, residual: [N, C]; residual may be undefined. In training the statistics are those of the batch
// (at least two rows); else the running ones. Dropout acts in training only; its draws are a
// function of the pass's seed and do not depend on the threads.
Tensor batch_norm_act(Tape& tape, const Tensor& x, const BatchNormTensors& norm, bool relu,
                      double dropout, const Tensor& residual);

// Scale and shift of the running statistics: what batch norm is in inference.
EpilogueTensors fold_batch_norm(const BatchNormTensors& norm, bool relu, const Tensor& residual);

// Dropout alone, scaled up by 1 / (1 - p), or after a ReLU.
Tensor dropout(Tape& tape, const Tensor& x, double p);
// y = dropout(relu(x)) + residual; the residual may be undefined.
Tensor relu_dropout(Tape& tape, const Tensor& x, double p, const Tensor& residual = {});

// An epilogue over a finished matrix, for operators that cannot fold it in.
Tensor apply_epilogue(const Tensor& y, const EpilogueTensors& epilogue);

}  // namespace egc::ops
