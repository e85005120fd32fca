#include "egc/nn/linear.h"

#include <cmath>

#include "egc/core/error.h"
#include "egc/ops/linear.h"
#include "egc/ops/norm_act.h"

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

Mlp::Mlp(const std::vector<int64_t>& sizes, double dropout, bool has_norms) : dropout_(dropout) {
  check(sizes.size() >= 2, "Mlp: at least two sizes are needed, got {}", sizes.size());
  for (size_t k = 0; k + 1 < sizes.size(); ++k)
    linears_.push_back(add_module("linears." + std::to_string(k),
                                  std::make_shared<Linear>(sizes[k], sizes[k + 1])));
  for (size_t k = 0; has_norms && k + 2 < sizes.size(); ++k)
    norms_.push_back(
        add_module("norms." + std::to_string(k), std::make_shared<NormActResidual>(sizes[k + 1])));
}

Tensor Mlp::forward(Tape& tape, Tensor x) const {
  const auto norm_of = [&](size_t k) { return norms_.empty() ? nullptr : norms_[k]; };
  for (size_t k = 0; k + 1 < linears_.size(); ++k) {
    const NormActResidualPtr norm = norm_of(k);
    if (tape.is_recording()) {
      x = linears_[k]->forward(tape, x);
      x = norm ? norm->forward(tape, x, dropout_, {}) : ops::relu_dropout(tape, x, dropout_);
    } else {
      const ops::EpilogueTensors relu{{}, {}, true, {}};
      x = linears_[k]->forward(tape, x, norm ? norm->fold({}) : relu);
    }
  }
  return linears_.back()->forward(tape, x);
}

}  // namespace egc::nn
