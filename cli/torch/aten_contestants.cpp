// What ATen itself offers, as contestants of the benchmarks.
#include <ATen/ATen.h>

#include "cli/torch/module.h"

namespace egc::cli {

std::function<void()> aten_csr_matmul(const Csr& graph, const float* x, int64_t columns) {
  const int64_t n = graph.num_targets();
  const auto offsets =
      at::tensor(std::vector<int64_t>(graph.offsets().begin(), graph.offsets().end()), at::kLong);
  const auto sources =
      at::tensor(std::vector<int64_t>(graph.sources().begin(), graph.sources().end()), at::kLong);
  // Unchecked, because the checked constructor refuses duplicate edges.
  const at::Tensor a = at::_sparse_csr_tensor_unsafe(
      offsets, sources, at::ones({graph.num_edges()}), {n, graph.num_sources()},
      at::TensorOptions().dtype(at::kFloat).layout(at::kSparseCsr));
  const at::Tensor dense =
      at::from_blob(const_cast<float*>(x), {graph.num_sources(), columns}, at::kFloat);
  at::Tensor out = at::zeros({n, columns});
  return [=]() mutable {
    at::NoGradGuard no_grad;
    at::mm_out(out, a, dense);
  };
}

std::function<void()> aten_matmul(int64_t rows, const float* x, int64_t columns) {
  const at::Tensor dense = at::from_blob(const_cast<float*>(x), {rows, columns}, at::kFloat);
  const at::Tensor weight = at::randn({columns, columns});
  at::Tensor out = at::zeros({rows, columns});
  return [=]() mutable {
    at::NoGradGuard no_grad;
    at::mm_out(out, dense, weight);
  };
}

}  // namespace egc::cli
