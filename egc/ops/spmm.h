// Sparse times dense on tensors, with autograd: the gradient is a product with the transposed
// graph.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/graph/csr.h"

namespace egc::ops {

// x: [num_sources, columns], float32 or float64.   Result: [num_targets, columns].
at::Tensor spmm(const Csr& graph, const at::Tensor& x);

}  // namespace egc::ops
