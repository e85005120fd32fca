// mlp([a, b, ..., z]): Linear, batch norm, ReLU and dropout between sizes, a plain Linear at the
// end.
#pragma once

#include <vector>

#include "egc/nn/batch_norm.h"
#include "egc/nn/linear.h"

namespace egc::nn {

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
