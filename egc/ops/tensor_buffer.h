// Uninitialised tensors on reused huge pages.
#pragma once

#include <ATen/core/Tensor.h>

namespace egc::ops {

// Like at::empty. Large CPU tensors come from huge_buffer.h's pool, small ones from ATen.
at::Tensor empty_buffer(at::IntArrayRef sizes, const at::TensorOptions& options);

}  // namespace egc::ops
