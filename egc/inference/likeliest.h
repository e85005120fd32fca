// The likeliest of some classes.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "egc/tensor/tensor.h"

namespace egc::inference {

// The first of the greatest; the first that is no number, where there is one.
inline int64_t likeliest(const float* scores, int64_t classes) {
  int64_t best = 0;
  for (int64_t c = 1; c < classes && !std::isnan(scores[best]); ++c)
    if (!(scores[c] <= scores[best])) best = c;
  return best;
}

// Of every `classes` scores one after the other.
inline void append_likeliest(std::vector<int64_t>& to, const Tensor& scores, int64_t classes) {
  const float* x = scores.data<float>();
  for (int64_t k = 0; k < scores.size(); k += classes) to.push_back(likeliest(x + k, classes));
}

}  // namespace egc::inference
