// The sublayer that follows a graph layer where the configuration has feed_forward = w:
//   y = norm(x + Linear(dropout(relu(Linear(x))))), [N, hidden] -> [N, w * hidden] -> [N, hidden]
// Each node by itself, as in transformers; GraphGPS (Rampasek et al., NeurIPS 2022) norms after it.
#pragma once

#include "egc/models/block_norm.h"
#include "egc/nn/linear.h"

namespace egc::models {

class FeedForward : public nn::Module {
 public:
  explicit FeedForward(const ModelConfig& config);
  Tensor forward(Tape& tape, const Tensor& x) const;

 private:
  double dropout_;
  nn::LinearPtr wide_;    // "linears.0"
  nn::LinearPtr narrow_;  // "linears.1"
  BlockNorm norm_;        // "norm"
};

}  // namespace egc::models
