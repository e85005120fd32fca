// A linear layer and an MLP; parameters and initialization as PyTorch's.
#pragma once

#include <vector>

#include "egc/nn/batch_norm.h"
#include "egc/nn/module.h"
#include "egc/ops/epilogue.h"

namespace egc::nn {

// y = x weight' + bias, as torch.nn.Linear.
class Linear : public Module {
 public:
  // Parameters are uninitialized until reset_parameters() or load_state().
  Linear(int64_t in_channels, int64_t out_channels, bool has_bias = true);

  void reset_parameters(Rng& rng) override;  // as torch.nn.Linear
  // x: [N, in].   Result: [N, out]. `epilogue` is for inference only.
  Tensor forward(Tape& tape, const Tensor& x, const ops::EpilogueTensors& epilogue = {}) const;

  Tensor bias_value() const { return bias ? bias->value : Tensor(); }  // undefined without bias

  ParameterPtr weight;  // [out, in]
  ParameterPtr bias;    // [out]; null without bias
};
using LinearPtr = std::shared_ptr<Linear>;  // shared, as modules are

// Linear layers with batch norm (or without), ReLU and dropout between them; the last one is
// followed by nothing.
class Mlp : public Module {
 public:
  // sizes: columns of the input, of the hidden layers and of the output.
  explicit Mlp(const std::vector<int64_t>& sizes, double dropout = 0, bool has_norms = true);

  Tensor forward(Tape& tape, Tensor x) const;  // [N, first size] -> [N, last size]

 private:
  double dropout_;
  std::vector<LinearPtr> linears_;         // "linears.k"
  std::vector<NormActResidualPtr> norms_;  // "norms.k"; none without batch norm
};

}  // namespace egc::nn
