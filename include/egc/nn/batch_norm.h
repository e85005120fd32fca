// Batch norm with ReLU, dropout and residual as one operator. Parameters and buffers as PyTorch's
// BatchNorm1d.
#pragma once

#include "egc/nn/module.h"
#include "egc/ops/norm_act.h"

namespace egc::nn {

// y = dropout(relu(batch_norm(x))) + residual: what follows a layer in the paper's networks.
class NormActResidual : public Module {
 public:
  // For C = channels columns.
  explicit NormActResidual(int64_t channels);

  void reset_parameters(Rng& rng) override;  // weight 1, bias 0; running mean 0, variance 1

  // x, residual: [N, C]; residual may be undefined. Result: [N, C]. Training tapes update the
  // running statistics. Without relu the norm's result is taken as it is.
  Tensor forward(Tape& tape, const Tensor& x, double dropout, const Tensor& residual,
                 bool relu = true);

  // forward() with running statistics, as an epilogue that a layer applies in inference.
  ops::EpilogueTensors fold(const Tensor& residual) const;

  ParameterPtr weight;                           // [C]
  ParameterPtr bias;                             // [C]
  ParameterPtr running_mean;                     // [C], a buffer
  ParameterPtr running_var;                      // [C], a buffer
  std::shared_ptr<int64_t> num_batches_tracked;  // training steps so far
  double momentum = 0.1;                         // how far a batch moves the running statistics

 private:
  ops::BatchNormTensors tensors() const;
};
using NormActResidualPtr = std::shared_ptr<NormActResidual>;  // shared, as modules are

}  // namespace egc::nn
