// The negative log-likelihood of a row's label, with its gradient.
#pragma once

#include <cstdint>

namespace egc::ops {

// x: [classes] scores, or log-probabilities where `normalised`.   gradient: [classes], or null.
// Returns weight * -log p(label).
template <class T>
double cross_entropy_row(const T* x, int64_t classes, int64_t label, double weight, bool normalised,
                         T* gradient);

}  // namespace egc::ops
