// A Linear; parameters and initial values as PyTorch's.
#pragma once

#include "egc/nn/module.h"
#include "egc/ops/epilogue.h"

namespace egc::nn {

class Linear : public Module {
 public:
  Linear(int64_t in_channels, int64_t out_channels, bool has_bias = true);

  void reset_parameters(Rng& rng) override;
  Tensor forward(Tape& tape, const Tensor& x, const ops::EpilogueTensors& epilogue = {}) const;

  Tensor bias_value() const { return bias ? bias->value : Tensor(); }

  ParameterPtr weight;  // [out, in]
  ParameterPtr bias;    // [out] or null
};
using LinearPtr = std::shared_ptr<Linear>;

}  // namespace egc::nn
