#include "egc/nn/batch_norm.h"

namespace egc::nn {

NormActResidual::NormActResidual(int64_t channels) {
  weight = add_parameter("weight", {channels});
  bias = add_parameter("bias", {channels});
  running_mean = add_buffer("running_mean", {channels});
  running_var = add_buffer("running_var", {channels});
  num_batches_tracked = add_counter("num_batches_tracked");
}

void NormActResidual::reset_parameters(Rng&) {
  weight->value.fill(1);
  bias->value.fill(0);
  running_mean->value.fill(0);
  running_var->value.fill(1);
  *num_batches_tracked = 0;
}

ops::BatchNormTensors NormActResidual::tensors() const {
  return {weight->value, bias->value, running_mean->value, running_var->value, momentum};
}

Tensor NormActResidual::forward(Tape& tape, const Tensor& x, double dropout, const Tensor& residual,
                                bool relu) {
  if (tape.is_training()) ++*num_batches_tracked;
  return ops::batch_norm_act(tape, x, tensors(), relu, dropout, residual);
}

ops::EpilogueTensors NormActResidual::fold(const Tensor& residual) const {
  return ops::fold_batch_norm(tensors(), /*relu=*/true, residual);
}

}  // namespace egc::nn
