// The activation of EGC's combination weights w[i, h, :, :].
#pragma once

#include <string_view>

#include "egc/tensor/tensor.h"

namespace egc {

// Activation of the combination weights. Softmax goes over all aggregators and bases of a head;
// hardtanh clips to [-1, 1].
enum class WeightActivation { kIdentity, kSoftmax, kSigmoid, kHardtanh };
// The activation of a name. Throws kUsage for an unknown name.
WeightActivation parse_weight_activation(std::string_view name);
std::string_view name_of(WeightActivation activation);  // as in configurations: "softmax"

namespace ops {

// Applies the activation in place. w: [N, heads * terms], terms = A*B of a head.
void activate_weights(WeightActivation activation, int64_t heads, const Tensor& w);
// Turns the gradient of the activated weights w, in place, into that of the weights before
// activation. w, grad: [N, heads * terms].
void activate_weights_backward(WeightActivation activation, int64_t heads, const Tensor& w,
                               const Tensor& grad);

}  // namespace ops
}  // namespace egc
