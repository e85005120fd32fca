// Heterogeneous node classification: learned embeddings for the types without features, the model's
// relational layers with ReLU and dropout, an R-GCN layer for the target type's classes.
#pragma once

#include "egc/models/network.h"
#include "egc/nn/relational_conv.h"

namespace egc::models {

class HeteroNetwork : public Network {
 public:
  explicit HeteroNetwork(const ModelConfig& config);
  at::Tensor forward(const ModelInput& input) override;

 private:
  std::vector<at::Tensor> embeddings_;  // "embeddings.<type>", undefined for types with features
  std::vector<std::shared_ptr<nn::RelationalConv>> convs_;  // "convs.k"
  int64_t target_ = 0;
};

}  // namespace egc::models
