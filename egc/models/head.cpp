#include "egc/models/head.h"

#include "egc/core/error.h"
#include "egc/ops/assemble.h"
#include "egc/ops/linear.h"
#include "egc/ops/row_parts.h"

namespace egc::models {

MlpHead::MlpHead(const std::vector<int64_t>& sizes, double dropout, bool has_norms)
    : mlp_(add_module("mlp", std::make_shared<nn::Mlp>(sizes, dropout, has_norms))) {}

SequenceHead::SequenceHead(int64_t width, int64_t positions, int64_t outputs) : outputs_(outputs) {
  for (int64_t k = 0; k < positions; ++k)
    linears_.push_back(
        add_module(fmt::format("positions.{}", k), std::make_shared<nn::Linear>(width, outputs)));
}

Tensor SequenceHead::forward(Tape& tape, const Tensor& x) {
  std::vector<Tensor> weights;
  std::vector<ops::LinearTerm> terms;
  std::vector<ops::AssemblyBlock> biases;
  for (const nn::LinearPtr& l : linears_) {
    const auto k = static_cast<int>(weights.size());
    terms.push_back({0, 0, k, k * outputs_});
    weights.push_back(l->weight->value);
    biases.push_back({l->bias->value, 0, 0, 1, outputs_, 0, k * outputs_});
  }
  const int64_t columns = std::ssize(linears_) * outputs_;
  const Tensor bias = ops::assemble(tape, 1, columns, biases);
  return ops::linear_sum(tape, {x}, weights, terms, bias, columns);
}

LogSoftmaxHead::LogSoftmaxHead(int64_t width, int64_t outputs, bool linear) : outputs_(outputs) {
  if (linear) lin_ = add_module("lin", std::make_shared<nn::Linear>(width, outputs));
}

Tensor LogSoftmaxHead::forward(Tape& tape, const Tensor& x) {
  return ops::log_softmax(tape, lin_ ? lin_->forward(tape, x) : x, outputs_);
}

namespace {

// width, width / 2, ..., outputs.
std::vector<int64_t> head_sizes(const ModelConfig& c, int64_t width) {
  const int64_t least = int64_t{1} << (c.head_layers - 1);
  check(width >= least, "a head of {} linear layers needs hidden of at least {}, got {}",
        c.head_layers, least, width);
  std::vector<int64_t> out;
  for (int64_t k = 0; k < c.head_layers; ++k) out.push_back(width >> k);
  out.push_back(c.outputs);
  return out;
}

}  // namespace

std::shared_ptr<Head> make_head(const ModelConfig& c, int64_t width) {
  switch (c.task) {
    case Task::kGraphRegression:
    case Task::kGraphClassification:
    case Task::kGraphBinary:
      // GA-MLP has had its MLP: only the last Linear is left.
      if (c.model == "ga-mlp")
        return std::make_shared<MlpHead>(std::vector<int64_t>{width, c.outputs}, 0.0, true);
      return std::make_shared<MlpHead>(head_sizes(c, width), c.dropout_at.head ? c.dropout : 0.0,
                                       c.head_norm);
    case Task::kGraphSequence:
      return std::make_shared<SequenceHead>(width, c.sequence_length, c.outputs);
    case Task::kNodeClassification:
    case Task::kNodeClassificationHetero:
      return std::make_shared<LogSoftmaxHead>(width, c.outputs, c.encoder != Encoder::kNone);
  }
  return nullptr;
}

}  // namespace egc::models
