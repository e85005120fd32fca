// Batch norm, ReLU, dropout and residual as one differentiable operator:
//   y = dropout(relu(batch_norm(x))) + residual
// It keeps x and the statistics for the backward pass and recomputes the masks of ReLU and dropout.
#pragma once

#include "egc/ops/epilogue.h"

namespace egc::ops {

// Parameters and statistics of a batch norm over C columns, as PyTorch's BatchNorm1d.
struct BatchNormTensors {
  Tensor weight;          // [1, C]
  Tensor bias;            // [1, C]
  Tensor running_mean;    // [1, C], updated in training
  Tensor running_var;     // [1, C], updated in training
  double momentum = 0.1;  // of the update of running statistics
  double eps = 1e-5;      // added to the variance
};

// The operator. x, residual: [N, C]; residual may be undefined. Result: [N, C]. In training,
// statistics are those of the batch, over all ranks of a process group; otherwise the running ones.
// Dropout acts in training only; its mask depends on the tape's seed, not on threads.
Tensor batch_norm_act(Tape& tape, const Tensor& x, const BatchNormTensors& norm, bool relu,
                      double dropout, const Tensor& residual);

// Batch norm with running statistics as an epilogue, for inference.
EpilogueTensors fold_batch_norm(const BatchNormTensors& norm, bool relu, const Tensor& residual);

// Dropout with probability p; kept elements are scaled by 1 / (1 - p). Does nothing unless the tape
// trains.
Tensor dropout(Tape& tape, const Tensor& x, double p);
// y = dropout(relu(x)) + residual. x, residual: [N, C]; residual may be undefined.
Tensor relu_dropout(Tape& tape, const Tensor& x, double p, const Tensor& residual = {});

// Applies an epilogue to a finished matrix, for operators that cannot fuse it. y: [N, C].
Tensor apply_epilogue(const Tensor& y, const EpilogueTensors& epilogue);

}  // namespace egc::ops
