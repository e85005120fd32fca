// Several networks as one: the mean of their predictions.
#pragma once

#include <memory>
#include <vector>

#include "egc/models/network.h"

namespace egc::models {

// Regression: the mean output. Other tasks: the mean probability, as the logit or the logarithm
// that a single network of that task gives. For inference; throws kModel where the networks differ
// in task or outputs.
class Ensemble : public Network {
 public:
  explicit Ensemble(std::vector<std::shared_ptr<Network>> members);
  Tensor forward(Tape& tape, const ModelInput& input) override;

 private:
  std::vector<std::shared_ptr<Network>> members_;
};

}  // namespace egc::models
