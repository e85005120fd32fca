// mlp([a, b, ..., z]): Linear, BatchNorm, ReLU and dropout between sizes, a plain Linear at the
// end.
#pragma once

#include <vector>

#include "egc/nn/batch_norm.h"
#include "egc/nn/linear.h"

namespace egc::nn {

class MlpImpl : public torch::nn::Cloneable<MlpImpl> {
 public:
  explicit MlpImpl(std::vector<int64_t> sizes, double dropout = 0);

  void reset() override;
  at::Tensor forward(at::Tensor x);  // [N, a] -> [N, z]

 private:
  std::vector<int64_t> sizes_;
  double dropout_;
  std::vector<Linear> linears_;   // "linears.k"
  std::vector<BatchNorm> norms_;  // "norms.k"
};
TORCH_MODULE(Mlp);

}  // namespace egc::nn
