// Adam (Kingma and Ba, ICLR 2015) over all parameters of a network in one pass each step. Weight
// decay is L2: added to the gradient.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/nn/module.h"

namespace egc::train {

struct AdamOptions {
  double wd = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double clip = 0;  // maximum norm of all gradients together (clipping); 0: off
};

class Adam {
 public:
  // Of float32 values.
  Adam(std::vector<nn::ParameterPtr> parameters, const AdamOptions& options);

  // Takes the gradients away, so that the next backward pass hands over its own buffers instead of
  // adding to these. A parameter without a gradient stays as it is.
  void step(double lr);

  // Both moments of all parameters and the number of steps: for checkpoints.
  State state() const;
  // Throws kModel with `where`.
  void load(const State& state, const std::string& where);

 private:
  struct Block;  // a stretch of one parameter
  double clip_scale(const std::vector<Tensor>& gradients) const;

  std::vector<nn::ParameterPtr> parameters_;
  AdamOptions options_;
  std::vector<float> mean_;    // of gradients; all parameters one after the other
  std::vector<float> square_;  // of their squares
  int64_t steps_ = 0;
};

}  // namespace egc::train
