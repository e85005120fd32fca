#include "egc/nn/batch_norm.h"

#include "egc/nn/parameter.h"

namespace egc::nn {

BatchNormImpl::BatchNormImpl(int64_t channels) : channels_(channels) { reset(); }

void BatchNormImpl::reset() {
  weight = register_parameter("weight", new_parameter({channels_}));
  bias = register_parameter("bias", new_parameter({channels_}));
  running_mean = register_buffer("running_mean", new_parameter({channels_}));
  running_var = register_buffer("running_var", new_parameter({channels_}));
  num_batches_tracked = register_buffer("num_batches_tracked", at::empty({}, at::kLong));
  reset_parameters();
}

void BatchNormImpl::reset_parameters() {
  at::NoGradGuard no_grad;
  weight.fill_(1);
  bias.zero_();
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

void BatchNormImpl::to(torch::Dtype dtype, bool non_blocking) {
  torch::nn::Module::to(dtype, non_blocking);
  num_batches_tracked.set_data(num_batches_tracked.to(at::kLong));
}

void BatchNormImpl::to(torch::Device device, torch::Dtype dtype, bool non_blocking) {
  torch::nn::Module::to(device, dtype, non_blocking);
  num_batches_tracked.set_data(num_batches_tracked.to(at::kLong));
}

ops::BatchNormTensors BatchNormImpl::tensors() const {
  return {weight, bias, running_mean, running_var};
}

at::Tensor BatchNormImpl::forward(const at::Tensor& x, double dropout, const at::Tensor& residual) {
  if (is_training()) num_batches_tracked.add_(1);
  return ops::batch_norm_act(x, tensors(), is_training(), /*relu=*/true, dropout, residual);
}

ops::EpilogueTensors BatchNormImpl::fold(const at::Tensor& residual) const {
  const at::Tensor scale = weight * at::rsqrt(running_var + tensors().eps);
  return {scale, bias - running_mean * scale, /*relu=*/true, residual};
}

}  // namespace egc::nn
