// Batch norm with what follows it in the paper's networks: ReLU, dropout and residual, in one
// operator. Parameters and buffers as PyTorch's BatchNorm1d.
#pragma once

#include "egc/nn/module.h"
#include "egc/ops/norm_act.h"

namespace egc::nn {

class NormActResidual : public Module {
 public:
  explicit NormActResidual(int64_t channels);

  void reset_parameters(Rng& rng) override;

  // y = dropout(relu(batch_norm(x))) + residual; the residual may be undefined.
  Tensor forward(Tape& tape, const Tensor& x, double dropout, const Tensor& residual);

  // The same for a layer to apply itself: scale and shift of the running statistics, ReLU,
  // residual. For inference.
  ops::EpilogueTensors fold(const Tensor& residual) const;

  ParameterPtr weight;
  ParameterPtr bias;
  ParameterPtr running_mean;
  ParameterPtr running_var;
  std::shared_ptr<int64_t> num_batches_tracked;

 private:
  ops::BatchNormTensors tensors() const;
};
using NormActResidualPtr = std::shared_ptr<NormActResidual>;

}  // namespace egc::nn
