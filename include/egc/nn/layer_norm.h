// Layer norm with ReLU, dropout and residual. Parameters as PyTorch's LayerNorm over the columns.
#pragma once

#include "egc/nn/module.h"
#include "egc/ops/norm_act.h"

namespace egc::nn {

// y = dropout(relu(layer_norm(x))) + residual: in the place of NormActResidual, which has batch
// norm. Each row is normalized by itself, so training and inference compute the same.
class LayerNorm : public Module {
 public:
  // For C = channels columns.
  explicit LayerNorm(int64_t channels);

  void reset_parameters(Rng& rng) override;  // weight 1, bias 0

  // x, residual: [N, C]; residual may be undefined. Result: [N, C]. Without relu the norm's result
  // is taken as it is.
  Tensor forward(Tape& tape, const Tensor& x, double dropout, const Tensor& residual,
                 bool relu = true) const;

  ParameterPtr weight;  // [C]
  ParameterPtr bias;    // [C]
};
using LayerNormPtr = std::shared_ptr<LayerNorm>;  // shared, as modules are

}  // namespace egc::nn
