// Heterogeneous node classification: learned embeddings for the types without features, a Linear of
// its own for each type with features (or their columns as they are), the model's relational layers
// with ReLU and dropout, an R-GCN layer for the target type's classes.
#pragma once

#include "egc/models/network.h"
#include "egc/nn/linear.h"
#include "egc/nn/relational_conv.h"

namespace egc::models {

class HeteroNetwork : public Network {
 public:
  explicit HeteroNetwork(const ModelConfig& config);
  void reset_parameters(Rng& rng) override;
  Tensor forward(Tape& tape, const ModelInput& input) override;

 private:
  // What the first layer sees of each type.
  std::vector<Tensor> encode(Tape& tape, const ModelInput& input);

  std::vector<nn::ParameterPtr> embeddings_;  // "embeddings.<type>"; null for types with features
  std::vector<nn::LinearPtr> encoders_;       // "encoders.<type>"; null for the others
  std::vector<std::shared_ptr<nn::RelationalConv>> convs_;  // "convs.k"
  int64_t target_ = 0;
};

}  // namespace egc::models
