#include "egc/nn/mlp.h"

#include "egc/core/error.h"
#include "egc/nn/group.h"

namespace egc::nn {

MlpImpl::MlpImpl(std::vector<int64_t> sizes, double dropout)
    : sizes_(std::move(sizes)), dropout_(dropout) {
  reset();
}

void MlpImpl::reset() {
  check(sizes_.size() >= 2, "Mlp: at least two sizes are needed, got {}", sizes_.size());
  linears_.clear();
  norms_.clear();
  const auto linears = register_module("linears", std::make_shared<Group>());
  const auto norms = register_module("norms", std::make_shared<Group>());
  for (size_t k = 0; k + 1 < sizes_.size(); ++k) {
    linears_.push_back(
        linears->register_module(std::to_string(k), Linear(sizes_[k], sizes_[k + 1])));
    if (k + 2 < sizes_.size())
      norms_.push_back(norms->register_module(std::to_string(k), BatchNorm(sizes_[k + 1])));
  }
}

at::Tensor MlpImpl::forward(at::Tensor x) {
  for (size_t k = 0; k + 1 < linears_.size(); ++k) {
    if (is_training() || at::GradMode::is_enabled())
      x = norms_[k]->forward(linears_[k]->forward(x), dropout_, {});
    else
      x = linears_[k]->forward(x, norms_[k]->fold({}));
  }
  return linears_.back()->forward(x);
}

}  // namespace egc::nn
