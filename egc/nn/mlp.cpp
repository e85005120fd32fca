#include "egc/nn/mlp.h"

#include "egc/core/error.h"

namespace egc::nn {

Mlp::Mlp(const std::vector<int64_t>& sizes, double dropout) : dropout_(dropout) {
  check(sizes.size() >= 2, "Mlp: at least two sizes are needed, got {}", sizes.size());
  for (size_t k = 0; k + 1 < sizes.size(); ++k)
    linears_.push_back(add_module("linears." + std::to_string(k),
                                  std::make_shared<Linear>(sizes[k], sizes[k + 1])));
  for (size_t k = 0; k + 2 < sizes.size(); ++k)
    norms_.push_back(
        add_module("norms." + std::to_string(k), std::make_shared<NormActResidual>(sizes[k + 1])));
}

Tensor Mlp::forward(Tape& tape, Tensor x) const {
  for (size_t k = 0; k + 1 < linears_.size(); ++k)
    x = tape.is_recording() ? norms_[k]->forward(tape, linears_[k]->forward(tape, x), dropout_, {})
                            : linears_[k]->forward(tape, x, norms_[k]->fold({}));
  return linears_.back()->forward(tape, x);
}

}  // namespace egc::nn
