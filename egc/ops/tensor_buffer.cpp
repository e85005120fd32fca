#include "egc/ops/tensor_buffer.h"

#include "egc/core/huge_buffer.h"

namespace egc::ops {

at::Tensor empty_buffer(at::IntArrayRef sizes, const at::TensorOptions& options) {
  constexpr int64_t kLarge = 1 << 20;
  int64_t bytes = static_cast<int64_t>(options.dtype().itemsize());
  for (const int64_t extent : sizes) bytes *= extent;
  if (bytes < kLarge || !options.device().is_cpu()) return at::empty(sizes, options);
  return at::from_blob(huge_allocate(static_cast<size_t>(bytes)), sizes, &huge_free, options);
}

}  // namespace egc::ops
