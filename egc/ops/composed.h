// The fused operator composed of ATen calls: what a LibTorch user would write. Serves devices without
// kernels of ours, and as a second, independent oracle. Memory O(E * B*L); gradients by autograd, so
// at ties max and min share their gradient instead of giving it to the first winner.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Optional.h>

#include "egc/graph/csr.h"
#include "egc/kernels/fused_aggregate.h"

namespace egc::ops {

// Arguments as ops::fused_aggregate, bases row-major.
at::Tensor composed_aggregate(const Csr& graph, const kernels::FusedShape& shape,
                              const at::Tensor& bases, const at::Tensor& weights,
                              const c10::optional<at::Tensor>& bias);

}  // namespace egc::ops
