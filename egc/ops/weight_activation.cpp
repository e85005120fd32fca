#include "egc/ops/weight_activation.h"

#include <algorithm>
#include <cmath>

#include "egc/core/named_table.h"
#include "egc/ops/for_each_row.h"

namespace egc {
namespace {

const NamedTable<WeightActivation>& activations() {
  static const NamedTable<WeightActivation> table("activation",
                                                  {{"identity", WeightActivation::kIdentity},
                                                   {"softmax", WeightActivation::kSoftmax},
                                                   {"sigmoid", WeightActivation::kSigmoid},
                                                   {"hardtanh", WeightActivation::kHardtanh}});
  return table;
}

template <class T>
void softmax(T* w, int64_t n) {
  T greatest = w[0];
  for (int64_t k = 1; k < n; ++k) greatest = std::max(greatest, w[k]);
  T sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += w[k] = std::exp(w[k] - greatest);
  for (int64_t k = 0; k < n; ++k) w[k] /= sum;
}

template <class T>
void softmax_backward(const T* w, T* grad, int64_t n) {
  T dot = 0;
  for (int64_t k = 0; k < n; ++k) dot += w[k] * grad[k];
  for (int64_t k = 0; k < n; ++k) grad[k] = w[k] * (grad[k] - dot);
}

}  // namespace

WeightActivation parse_weight_activation(std::string_view name) { return activations().at(name); }
std::string_view name_of(WeightActivation activation) { return activations().name_of(activation); }

namespace ops {

void activate_weights(WeightActivation activation, int64_t heads, const Tensor& w) {
  if (activation == WeightActivation::kIdentity) return;
  const int64_t columns = w.columns();
  with_type(w.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_each_row(w.rows(), [&](int64_t i) {
      T* row = w.data<T>() + i * columns;
      switch (activation) {
        case WeightActivation::kIdentity:
          break;
        case WeightActivation::kSoftmax:
          for (int64_t h = 0; h < heads; ++h) softmax(row + h * (columns / heads), columns / heads);
          break;
        case WeightActivation::kSigmoid:
          for (int64_t k = 0; k < columns; ++k) row[k] = T{1} / (T{1} + std::exp(-row[k]));
          break;
        case WeightActivation::kHardtanh:
          for (int64_t k = 0; k < columns; ++k) row[k] = std::clamp(row[k], T{-1}, T{1});
          break;
      }
    });
  });
}

void activate_weights_backward(WeightActivation activation, int64_t heads, const Tensor& w,
                               const Tensor& grad) {
  if (activation == WeightActivation::kIdentity) return;
  const int64_t columns = w.columns();
  with_type(w.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for_each_row(w.rows(), [&](int64_t i) {
      const T* row = w.data<T>() + i * columns;
      T* g = grad.data<T>() + i * columns;
      switch (activation) {
        case WeightActivation::kIdentity:
          break;
        case WeightActivation::kSoftmax:
          for (int64_t h = 0; h < heads; ++h)
            softmax_backward(row + h * (columns / heads), g + h * (columns / heads),
                             columns / heads);
          break;
        case WeightActivation::kSigmoid:
          for (int64_t k = 0; k < columns; ++k) g[k] *= row[k] * (T{1} - row[k]);
          break;
        case WeightActivation::kHardtanh:  // flat where it was clamped, as in PyTorch
          for (int64_t k = 0; k < columns; ++k)
            if (row[k] <= T{-1} || row[k] >= T{1}) g[k] = 0;
          break;
      }
    });
  });
}

}  // namespace ops
}  // namespace egc
