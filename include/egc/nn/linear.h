// Dense layers: Linear, and an MLP of them.
#pragma once

#include <vector>

#include "egc/nn/batch_norm.h"
#include "egc/nn/module.h"
#include "egc/ops/epilogue.h"

namespace egc::nn {

// A Linear; parameters and initial values as PyTorch's.
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

// mlp([a, b, ..., z]): Linear, batch norm, ReLU and dropout between sizes, a plain Linear at the
// end.
class Mlp : public Module {
 public:
  explicit Mlp(const std::vector<int64_t>& sizes, double dropout = 0);

  Tensor forward(Tape& tape, Tensor x) const;  // [N, a] -> [N, z]

 private:
  double dropout_;
  std::vector<LinearPtr> linears_;         // "linears.k"
  std::vector<NormActResidualPtr> norms_;  // "norms.k"
};

}  // namespace egc::nn
