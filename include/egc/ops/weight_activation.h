// What is applied to the weights w[i, h, :, :] of a head of EGC.
#pragma once

#include <string_view>

#include "egc/tensor/tensor.h"

namespace egc {

enum class WeightActivation { kIdentity, kSoftmax, kSigmoid, kHardtanh };
WeightActivation parse_weight_activation(std::string_view name);
std::string_view name_of(WeightActivation activation);

namespace ops {

// In place.   w: [N, heads * terms]; softmax goes over all terms (aggregators and bases) of a head.
void activate_weights(WeightActivation activation, int64_t heads, const Tensor& w);
// In place, from the gradient with respect to the activated weights `w` to that before them.
void activate_weights_backward(WeightActivation activation, int64_t heads, const Tensor& w,
                               const Tensor& grad);

}  // namespace ops
}  // namespace egc
