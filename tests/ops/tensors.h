// Small helpers that the tests with tensors share.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <vector>

#include "egc/graph/csr.h"

namespace egc::testing {

inline Csr graph_of(const at::Tensor& edge_index, int64_t num_nodes) {
  const at::Tensor e = edge_index.contiguous();
  const auto n = static_cast<size_t>(e.size(1));
  return Csr::from_edges(num_nodes, {e[0].data_ptr<int64_t>(), n}, {e[1].data_ptr<int64_t>(), n});
}

// max |a - b| / max(1, max |b|)
inline double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  if (b.numel() == 0) return a.numel() == 0 ? 0.0 : 1.0;
  const double scale = std::max(1.0, b.abs().max().item<double>());
  return (a - b).abs().max().item<double>() / scale;
}

// The gradient of sum(f() * r) with respect to `input` by central differences, in double.
inline at::Tensor numeric_gradient(const std::function<at::Tensor()>& f, const at::Tensor& input,
                                   const at::Tensor& r, double step = 1e-6) {
  at::NoGradGuard no_grad;
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
