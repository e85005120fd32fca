#include "egc/ops/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "egc/kernels/softmax.h"

namespace egc::ops {

template <class T>
double cross_entropy_row(const T* x, int64_t classes, int64_t label, double weight, bool normalised,
                         T* gradient) {
  double log_sum = 0;
  if (normalised) {
    if (gradient != nullptr) std::fill(gradient, gradient + classes, T{0});
  } else {
    const auto [greatest, sum] = kernels::exp_row(x, classes, gradient);
    log_sum = static_cast<double>(greatest) + std::log(sum);
    const auto scale = static_cast<T>(weight / sum);
    if (gradient != nullptr)
      for (int64_t c = 0; c < classes; ++c) gradient[c] *= scale;
  }
  if (gradient != nullptr) gradient[label] -= static_cast<T>(weight);
  return (log_sum - static_cast<double>(x[label])) * weight;
}

template double cross_entropy_row(const float*, int64_t, int64_t, double, bool, float*);
template double cross_entropy_row(const double*, int64_t, int64_t, double, bool, double*);

}  // namespace egc::ops
