#include "egc/nn/linear.h"

#include <cmath>

#include "egc/core/error.h"
#include "egc/ops/linear.h"

namespace egc::nn {

Linear::Linear(int64_t in_channels, int64_t out_channels, bool has_bias) {
  check(in_channels >= 1 && out_channels >= 1,
        "Linear: in and out must be at least 1, got {} and {}", in_channels, out_channels);
  weight = add_parameter("weight", {out_channels, in_channels});
  if (has_bias) bias = add_parameter("bias", {out_channels});
}

void Linear::reset_parameters(Rng& rng) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(weight->value.columns()));
  uniform(weight->value, bound, rng);
  if (bias) uniform(bias->value, bound, rng);
}

Tensor Linear::forward(Tape& tape, const Tensor& x, const ops::EpilogueTensors& epilogue) const {
  return ops::linear(tape, x, weight->value, bias_value(), epilogue);
}

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
