// Helpers that the tests of the adapter share.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>

namespace egc::testing {

// max |a - b| / max(1, max |b|)
inline double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return 1e9;
  if (b.numel() == 0) return 0.0;
  const double scale = std::max(1.0, b.abs().max().item<double>());
  return (a - b).abs().max().item<double>() / scale;
}

// The gradient of sum(f() * r) with respect to `input` by central differences, in double.
inline at::Tensor numeric_gradient(const std::function<at::Tensor()>& f, const at::Tensor& input,
                                   const at::Tensor& r, double step = 1e-6) {
  const at::NoGradGuard no_grad;
  at::Tensor grad = at::zeros_like(input);
  double* x = input.data_ptr<double>();
  double* g = grad.data_ptr<double>();
  for (int64_t k = 0; k < input.numel(); ++k) {
    const double before = x[k];
    x[k] = before + step;
    const double up = (f() * r).sum().item<double>();
    x[k] = before - step;
    const double down = (f() * r).sum().item<double>();
    x[k] = before;
    g[k] = (up - down) / (2 * step);
  }
  return grad;
}

}  // namespace egc::testing
