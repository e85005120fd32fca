// y = a + (1 + eps) * x with a learned scalar eps, the mixing of GIN. An operator of its own
// because the gradient of a scalar is a sum over everything, which threads must not reorder.
#pragma once

#include <ATen/core/Tensor.h>

namespace egc::ops {

// a, x: [N, F].   eps: [1]. Differentiable in all three.
at::Tensor scaled_add(const at::Tensor& a, const at::Tensor& x, const at::Tensor& eps);

}  // namespace egc::ops
