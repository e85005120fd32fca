// From a tensor's runtime type to a compile-time one.
#pragma once

#include <c10/core/ScalarType.h>

namespace egc::ops {

// Calls f(float{}) or f(double{}); the caller has checked that the type is one of the two.
template <class F>
void with_type(c10::ScalarType type, F&& f) {
  if (type == c10::kFloat)
    f(float{});
  else
    f(double{});
}

}  // namespace egc::ops
