// A Linear whose bits do not depend on the threads; parameters and initial values as LibTorch's.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/pimpl.h>

#include "egc/ops/epilogue.h"

namespace egc::nn {

class LinearImpl : public torch::nn::Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_channels, int64_t out_channels, bool has_bias = true);

  void reset() override;
  void reset_parameters();
  at::Tensor forward(const at::Tensor& x, const ops::EpilogueTensors& epilogue = {});

  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out] or undefined

 private:
  int64_t in_channels_;
  int64_t out_channels_;
  bool has_bias_;
};
TORCH_MODULE(Linear);

}  // namespace egc::nn
