// Networks: encoder, graph layers and head, made from a configuration.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/graph/hetero_graph.h"
#include "egc/models/model_config.h"
#include "egc/nn/module.h"

namespace egc::models {

// Categorical features of nodes.
struct Categories {
  std::span<const int32_t> values;    // [rows, columns], row-major
  int64_t columns = 0;                // number of features
  std::shared_ptr<const void> owner;  // keeps the values alive; null: the caller does

  bool defined() const { return columns > 0; }  // whether there are any
  // Number of nodes.
  int64_t rows() const { return defined() ? std::ssize(values) / columns : 0; }
};

// What a network reads; which fields are set depends on the task.
struct ModelInput {
  Tensor x;                         // [N, features], float features, or
  Categories categories;            // [N, features], categorical ones
  Tensor encodings;                 // [N, columns] of ModelConfig::encode; undefined without
  Csr graph;                        // N nodes
  std::vector<int64_t> first_node;  // tasks on graphs: Batch::first_node

  HeteroGraph hetero;            // heterogeneous tasks: instead of x and graph
  std::vector<Tensor> hetero_x;  // per node type; undefined where embeddings are learned
  // Of a partition, per node type: the embeddings of its nodes. Empty: all, in order.
  std::vector<std::vector<int64_t>> hetero_ids;
};

// A whole network of the paper.
class Network : public nn::Module {
 public:
  // Tasks on graphs: [graphs, outputs]; sequences: [graphs, length * outputs]. Tasks on nodes:
  // log-probabilities [nodes, outputs], of the target type in heterogeneous graphs. Graph outputs
  // of classification are logits.
  virtual Tensor forward(Tape& tape, const ModelInput& input) = 0;

  const ModelConfig& config() const { return config_; }  // what it was made from

 protected:
  explicit Network(ModelConfig config) : config_(std::move(config)) {}  // for derived classes

 private:
  ModelConfig config_;
};

// Makes a network. Call reset_parameters() or load_state() before using it.
std::shared_ptr<Network> make_network(const ModelConfig& config);

// A copy with its own values.
std::shared_ptr<Network> copy_network(const Network& network);

}  // namespace egc::models
