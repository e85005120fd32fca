#include "egc/models/head.h"

#include "egc/core/error.h"
#include "egc/nn/group.h"
#include "egc/ops/linear.h"

namespace egc::models {

MlpHead::MlpHead(std::vector<int64_t> sizes, double dropout)
    : mlp_(register_module("mlp", nn::Mlp(std::move(sizes), dropout))) {}

SequenceHead::SequenceHead(int64_t width, int64_t positions, int64_t outputs) : outputs_(outputs) {
  const auto list = register_module("positions", std::make_shared<nn::Group>());
  for (int64_t k = 0; k < positions; ++k)
    linears_.push_back(list->register_module(std::to_string(k), nn::Linear(width, outputs)));
}

at::Tensor SequenceHead::forward(const at::Tensor& x) {
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  std::vector<ops::LinearTerm> terms;
  for (nn::Linear& l : linears_) {
    const auto k = static_cast<int>(weights.size());
    terms.push_back({0, 0, k, k * outputs_});
    weights.push_back(l->weight);
    biases.push_back(l->bias);
  }
  const auto positions = static_cast<int64_t>(linears_.size());
  return ops::linear_sum({x}, weights, terms, at::cat(biases), positions * outputs_)
      .view({x.size(0), positions, outputs_});
}

LogSoftmaxHead::LogSoftmaxHead(int64_t width, int64_t outputs, bool linear) : outputs_(outputs) {
  if (linear) lin_ = register_module("lin", nn::Linear(width, outputs));
}

at::Tensor LogSoftmaxHead::forward(const at::Tensor& x) {
  return at::log_softmax(lin_.is_empty() ? x.narrow(1, 0, outputs_) : lin_->forward(x), 1);
}

std::shared_ptr<Head> make_head(const ModelConfig& c, int64_t width) {
  switch (c.task) {
    case Task::kGraphRegression:
    case Task::kGraphClassification:
    case Task::kGraphBinary:
      // GA-MLP has had its MLP: only the last Linear is left.
      if (c.model == "ga-mlp")
        return std::make_shared<MlpHead>(std::vector<int64_t>{width, c.outputs}, 0.0);
      check(width >= 4, "a head needs hidden of at least 4, got {}", width);
      return std::make_shared<MlpHead>(std::vector<int64_t>{width, width / 2, width / 4, c.outputs},
                                       c.dropout_at.head ? c.dropout : 0.0);
    case Task::kGraphSequence:
      return std::make_shared<SequenceHead>(width, c.sequence_length, c.outputs);
    case Task::kNodeClassification:
    case Task::kNodeClassificationHetero:
      return std::make_shared<LogSoftmaxHead>(width, c.outputs, c.encoder != Encoder::kNone);
  }
  return nullptr;
}

}  // namespace egc::models
