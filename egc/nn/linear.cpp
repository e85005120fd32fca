#include "egc/nn/linear.h"

#include <cmath>

#include "egc/ops/linear.h"

namespace egc::nn {

Linear::Linear(int64_t in_channels, int64_t out_channels, bool has_bias) {
  check(in_channels >= 1 && out_channels >= 1,
        "Linear: in and out must be at least 1, got {} and {}", in_channels, out_channels);
  weight = add_parameter("weight", {out_channels, in_channels});
  if (has_bias) bias = add_parameter("bias", {out_channels});
}

void Linear::reset_parameters(Rng& rng) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(weight->value.columns()));
  uniform(weight->value, bound, rng);
  if (bias) uniform(bias->value, bound, rng);
}

Tensor Linear::forward(Tape& tape, const Tensor& x, const ops::EpilogueTensors& epilogue) const {
  return ops::linear(tape, x, weight->value, bias_value(), epilogue);
}

}  // namespace egc::nn
