// From the features of nodes to `hidden` columns.
#pragma once

#include <memory>

#include "egc/models/model_config.h"
#include "egc/nn/linear.h"

namespace egc::models {

class EncoderModule : public torch::nn::Module {
 public:
  // x: [N, features] as the network takes them.   Result: [N, hidden].
  virtual at::Tensor forward(const at::Tensor& x) = 0;
};

// x: float [N, features].
class LinearEncoder : public EncoderModule {
 public:
  LinearEncoder(int64_t features, int64_t hidden);
  at::Tensor forward(const at::Tensor& x) override;

 private:
  nn::Linear lin_;
};

// x: int64 [N, k]; the sum of k embeddings. The tables lie one under the other in one matrix, so
// the sum is one sparse product, and so is its gradient.
class CategoricalEncoder : public EncoderModule {
 public:
  // clip_last: values of the last feature above its table count as the greatest.
  CategoricalEncoder(std::vector<int64_t> categories, int64_t hidden, bool glorot, bool clip_last);
  at::Tensor forward(const at::Tensor& x) override;

 private:
  std::vector<int64_t> categories_;
  bool clip_last_;
  at::Tensor weight_;  // [sum of categories, hidden]
};

// Null for Encoder::kNone.
std::shared_ptr<EncoderModule> make_encoder(const ModelConfig& config);

}  // namespace egc::models
