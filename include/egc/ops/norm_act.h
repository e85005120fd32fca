// Batch or layer norm, ReLU, dropout and residual as one differentiable operator:
//   y = dropout(relu(norm(x))) + residual
// Batch norm keeps x and the statistics for the backward pass, layer norm the normalized x; the
// masks of ReLU and dropout are recomputed.
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

// Parameters of a layer norm over C columns, as PyTorch's LayerNorm.
struct LayerNormTensors {
  Tensor weight;      // [1, C]
  Tensor bias;        // [1, C]
  double eps = 1e-5;  // added to the variance
};

// The operator with layer norm: each row minus its mean, over its deviation. x, residual: [N, C];
// residual may be undefined. Result: [N, C]. Without dropout training and inference are the same.
Tensor layer_norm_act(Tape& tape, const Tensor& x, const LayerNormTensors& norm, bool relu,
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
