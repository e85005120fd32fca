// A whole network of the paper, made from its configuration.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/graph/hetero_graph.h"
#include "egc/models/model_config.h"
#include "egc/nn/module.h"

namespace egc::models {

// Categories of nodes, [rows, columns] row-major.
struct Categories {
  std::span<const int32_t> values;
  int64_t columns = 0;
  std::shared_ptr<const void> owner;  // keeps the values alive; null: the caller does

  bool defined() const { return columns > 0; }
  int64_t rows() const { return defined() ? std::ssize(values) / columns : 0; }
};

// What a network reads; which of it depends on the task.
struct ModelInput {
  Tensor x;  // [N, features], or
  Categories categories;
  Csr graph;
  std::vector<int64_t> first_node;  // tasks on graphs: Batch::first_node

  HeteroGraph hetero;            // heterogeneous tasks, instead of x and graph
  std::vector<Tensor> hetero_x;  // per node type; undefined where embeddings are learned
  // Of a part of the graph, per node type: which embeddings are its nodes'. Empty: all, in order.
  std::vector<std::vector<int64_t>> hetero_ids;
};

class Network : public nn::Module {
 public:
  // Tasks on graphs: [graphs, outputs], sequences [graphs, length * outputs]. On nodes:
  // log-probabilities [nodes, outputs], of the target type where there are several.
  virtual Tensor forward(Tape& tape, const ModelInput& input) = 0;

  const ModelConfig& config() const { return config_; }

 protected:
  explicit Network(ModelConfig config) : config_(std::move(config)) {}

 private:
  ModelConfig config_;
};

// Its parameters have no values before reset_parameters() or load_state().
std::shared_ptr<Network> make_network(const ModelConfig& config);

// Of the same configuration, with values of its own.
std::shared_ptr<Network> copy_network(const Network& network);

}  // namespace egc::models
