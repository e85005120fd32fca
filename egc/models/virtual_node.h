// A virtual node of each graph, as in the Open Graph Benchmark's networks: a state [graphs, hidden]
// that every layer adds to the nodes, and that the nodes change between the layers. So any two
// nodes of a graph are two layers apart.
#pragma once

#include <vector>

#include "egc/models/block_norm.h"
#include "egc/nn/linear.h"

namespace egc::models {

class VirtualNode : public nn::Module {
 public:
  explicit VirtualNode(const ModelConfig& config);
  void reset_parameters(Rng& rng) override;  // the state begins as zeros

  // Of every graph, before the first layer. pool: targets are the graphs, sources their nodes.
  Tensor start(Tape& tape, const Csr& pool) const;
  // x[i] + state[graph of i].   x: [nodes, hidden].
  Tensor spread(Tape& tape, const Tensor& x, const Tensor& state, const Csr& pool) const;
  // The state between layer k, which read x, and the next:
  //   MLP(sum of x over the nodes + state), + state with residuals
  // with the MLP [Linear(hidden, 2 hidden), norm, ReLU, Linear(2 hidden, hidden), norm, ReLU].
  Tensor update(Tape& tape, int64_t k, const Tensor& x, const Tensor& state, const Csr& pool) const;

 private:
  struct Update {
    nn::LinearPtr linears[2];  // "updates.k.linears.0", "updates.k.linears.1"
    BlockNorm norms[2];        // "updates.k.norms.0", "updates.k.norms.1"
  };
  double dropout_;
  bool residual_;
  nn::ParameterPtr embedding_;  // [hidden]: all graphs begin with it
  std::vector<Update> updates_;
};

}  // namespace egc::models
