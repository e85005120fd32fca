// The likeliest of some classes.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/tensor/tensor.h"

namespace egc::ops {

// The first of the greatest; the first NaN, where there is one.
int64_t likeliest(const float* scores, int64_t classes);

// Of every `classes` scores one after the other.
void append_likeliest(std::vector<int64_t>& to, const Tensor& scores, int64_t classes);

}  // namespace egc::ops
