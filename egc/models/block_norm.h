// The norm of a block, as the configuration has it, with what stands around it.
#pragma once

#include <functional>
#include <memory>

#include "egc/models/model_config.h"
#include "egc/nn/batch_norm.h"
#include "egc/nn/layer_norm.h"

namespace egc::models {

class BlockNorm {
 public:
  // Computes the rows. In inference it is given an epilogue, which it applies to them.
  using Rows = std::function<Tensor(const ops::EpilogueTensors& epilogue)>;

  BlockNorm() = default;  // no norm
  BlockNorm(const ModelConfig& config, int64_t channels);

  // Its parameters; null without a norm.
  std::shared_ptr<nn::Module> module() const;

  // y = dropout(relu(norm(rows))) + residual. The residual may be undefined; dropout is that of
  // training.
  Tensor follow(Tape& tape, double dropout, const Tensor& residual, const Rows& rows) const;
  // norm(x).
  Tensor norm(Tape& tape, const Tensor& x) const;

 private:
  nn::NormActResidualPtr batch_;  // or null
  nn::LayerNormPtr layer_;        // or null
};

}  // namespace egc::models
