#include "egc/nn/layer_norm.h"

namespace egc::nn {

LayerNorm::LayerNorm(int64_t channels) {
  weight = add_parameter("weight", {channels});
  bias = add_parameter("bias", {channels});
}

void LayerNorm::reset_parameters(Rng&) {
  weight->value.fill(1);
  bias->value.fill(0);
}

Tensor LayerNorm::forward(Tape& tape, const Tensor& x, double dropout, const Tensor& residual,
                          bool relu) const {
  return ops::layer_norm_act(tape, x, {weight->value, bias->value}, relu, dropout, residual);
}

}  // namespace egc::nn
