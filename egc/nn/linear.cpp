#include "egc/nn/linear.h"

#include <cmath>

#include "egc/core/error.h"
#include "egc/nn/parameter.h"
#include "egc/ops/linear.h"

namespace egc::nn {

LinearImpl::LinearImpl(int64_t in_channels, int64_t out_channels, bool has_bias)
    : in_channels_(in_channels), out_channels_(out_channels), has_bias_(has_bias) {
  reset();
}

void LinearImpl::reset() {
  check(in_channels_ >= 1 && out_channels_ >= 1,
        "Linear: in and out must be at least 1, got {} and {}", in_channels_, out_channels_);
  weight = register_parameter("weight", new_parameter({out_channels_, in_channels_}));
  if (has_bias_) bias = register_parameter("bias", new_parameter({out_channels_}));
  reset_parameters();
}

void LinearImpl::reset_parameters() {
  at::NoGradGuard no_grad;
  const double bound = 1.0 / std::sqrt(static_cast<double>(in_channels_));
  weight.uniform_(-bound, bound);
  if (bias.defined()) bias.uniform_(-bound, bound);
}

at::Tensor LinearImpl::forward(const at::Tensor& x, const ops::EpilogueTensors& epilogue) {
  return ops::linear(x, weight, bias, epilogue);
}

}  // namespace egc::nn
