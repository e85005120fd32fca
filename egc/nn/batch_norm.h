// Batch norm with what follows it in the paper's networks: ReLU, dropout and residual, in one
// operator. Parameters and buffers as LibTorch's BatchNorm1d.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include "egc/ops/epilogue.h"
#include "egc/ops/norm_act.h"

namespace egc::nn {

class BatchNormImpl : public torch::nn::Cloneable<BatchNormImpl> {
 public:
  explicit BatchNormImpl(int64_t channels);

  void reset() override;
  void reset_parameters();

  // LibTorch would make the counter a float too.
  void to(torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) override;
  using torch::nn::Module::to;

  // y = dropout(relu(batch_norm(x))) + residual; the residual may be undefined.
  at::Tensor forward(const at::Tensor& x, double dropout, const at::Tensor& residual);

  // The same for a layer to apply itself: scale and shift of the running statistics, ReLU,
  // residual. For evaluation.
  ops::EpilogueTensors fold(const at::Tensor& residual) const;

  at::Tensor weight;
  at::Tensor bias;
  at::Tensor running_mean;
  at::Tensor running_var;
  at::Tensor num_batches_tracked;

 private:
  ops::BatchNormTensors tensors() const;

  int64_t channels_;
};
TORCH_MODULE(BatchNorm);

}  // namespace egc::nn
