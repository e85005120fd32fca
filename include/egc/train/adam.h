// Adam (Kingma and Ba, ICLR 2015) and AdamW (Loshchilov and Hutter, ICLR 2019), all parameters of a
// network in one pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/nn/module.h"

namespace egc::train {

// Options of Adam; defaults as in torch.optim.Adam.
struct AdamOptions {
  double wd = 0;  // weight decay (L2), added to the gradient
  // AdamW, as torch.optim.AdamW: every parameter shrinks by lr * wd of itself instead.
  bool decoupled = false;
  double beta1 = 0.9;    // decay of the mean of gradients
  double beta2 = 0.999;  // decay of the mean of squared gradients
  double eps = 1e-8;     // added to the denominator
  double clip = 0;       // maximum norm of all gradients together; 0: no clipping
};

// The optimizer with its state.
class Adam {
 public:
  // Optimizes these parameters. Throws kUsage unless they are float32.
  Adam(std::vector<nn::ParameterPtr> parameters, const AdamOptions& options);

  // Updates the parameters from their gradients, which become undefined afterwards (no zero_grad()
  // is needed). Parameters without a gradient do not change.
  void step(double lr);

  // The moments of all parameters and the number of steps, for checkpoints.
  State state() const;
  // Loads what state() returned. Throws kModel, naming `where`, unless it fits.
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
