// A whole network of the paper, made from its configuration.
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/graph/hetero_graph.h"
#include "egc/models/model_config.h"

namespace egc::models {

// What a network reads; which of it depends on the task.
struct ModelInput {
  at::Tensor x;  // float [N, features] or int64 [N, features]
  Csr graph;
  std::vector<int64_t> first_node;  // tasks on graphs: Batch::first_node

  HeteroGraph hetero;                // heterogeneous tasks, instead of x and graph
  std::vector<at::Tensor> hetero_x;  // per node type; undefined where embeddings are learned
  // Of a part of the graph, per node type: which embeddings are its nodes'. Empty: all, in order.
  std::vector<at::Tensor> hetero_ids;
};

class Network : public torch::nn::Module {
 public:
  // Tasks on graphs: [graphs, outputs], sequences [graphs, length, outputs]. On nodes:
  // log-probabilities [nodes, outputs], of the target type where there are several.
  virtual at::Tensor forward(const ModelInput& input) = 0;

  const ModelConfig& config() const { return config_; }
  int64_t num_parameters() const;
  std::shared_ptr<torch::nn::Module> clone(
      const c10::optional<torch::Device>& device = c10::nullopt) const override;

 protected:
  explicit Network(ModelConfig config) : config_(std::move(config)) {}

 private:
  // What a cloned module around this one calls.
  void clone_(torch::nn::Module& other, const c10::optional<torch::Device>& device) override;

  ModelConfig config_;
};

// Parameters are drawn from LibTorch's default generator.
std::shared_ptr<Network> make_network(const ModelConfig& config);

}  // namespace egc::models
