// Exponentials of a row, as softmax and cross-entropy need them.
#pragma once

#include <cstdint>

namespace egc::kernels {

template <class T>
struct ExpSum {
  T greatest;
  double sum;  // of exp(x - greatest); NaN where a value is NaN or the greatest is not finite
};

// e = exp(x - greatest), or null: the sum alone.   x, e: [n], n at least 1.
template <class T>
ExpSum<T> exp_row(const T* x, int64_t n, T* e);

}  // namespace egc::kernels
