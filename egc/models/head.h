// From the last columns to the network's result.
#pragma once

#include <memory>
#include <vector>

#include "egc/models/model_config.h"
#include "egc/nn/linear.h"

namespace egc::models {

class Head : public nn::Module {
 public:
  virtual Tensor forward(Tape& tape, const Tensor& x) = 0;  // x: [rows, width]
};

// mlp([w, w/2, w/4, outputs]), of config.head_layers linear layers: regression values, class scores
// or logits, [graphs, outputs].
class MlpHead : public Head {
 public:
  MlpHead(const std::vector<int64_t>& sizes, double dropout, bool has_norms);
  Tensor forward(Tape& tape, const Tensor& x) override { return mlp_->forward(tape, x); }

 private:
  std::shared_ptr<nn::Mlp> mlp_;
};

// One Linear for each position of a sequence: scores [graphs, positions * outputs].
class SequenceHead : public Head {
 public:
  SequenceHead(int64_t width, int64_t positions, int64_t outputs);
  Tensor forward(Tape& tape, const Tensor& x) override;

 private:
  std::vector<nn::LinearPtr> linears_;  // "positions.k"
  int64_t outputs_;
};

// Log-probabilities [nodes, outputs]: of a Linear or, without one, of the first columns.
class LogSoftmaxHead : public Head {
 public:
  LogSoftmaxHead(int64_t width, int64_t outputs, bool linear);
  Tensor forward(Tape& tape, const Tensor& x) override;

 private:
  nn::LinearPtr lin_;  // or null
  int64_t outputs_;
};

std::shared_ptr<Head> make_head(const ModelConfig& config, int64_t width);

}  // namespace egc::models
