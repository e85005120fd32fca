#include "egc/models/ensemble.h"

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"

namespace egc::models {
namespace {

void softmax(double* x, int64_t n) {
  const double most = *std::max_element(x, x + n);
  double sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += x[k] = std::exp(x[k] - most);
  for (int64_t k = 0; k < n; ++k) x[k] /= sum;
}

// In place, from a network's outputs.
void to_probability(Task task, int64_t outputs, const Tensor& t) {
  auto* x = t.data<double>();
  switch (task) {
    case Task::kGraphRegression:
      return;
    case Task::kGraphBinary:
      for (int64_t k = 0; k < t.size(); ++k) x[k] = 1 / (1 + std::exp(-x[k]));
      return;
    case Task::kGraphClassification:
    case Task::kGraphSequence:
      for (int64_t k = 0; k < t.size(); k += outputs) softmax(x + k, outputs);
      return;
    case Task::kNodeClassification:
    case Task::kNodeClassificationHetero:
      for (int64_t k = 0; k < t.size(); ++k) x[k] = std::exp(x[k]);
      return;
  }
}

// Of a graph or a node.
int64_t outputs_of(const ModelConfig& c) {
  return c.task == Task::kGraphSequence ? c.outputs * c.sequence_length : c.outputs;
}

double output_of(Task task, double p) {
  if (task == Task::kGraphRegression) return p;
  if (task == Task::kGraphBinary) return std::log(p) - std::log1p(-p);
  return std::log(p);
}

}  // namespace

Ensemble::Ensemble(std::vector<std::shared_ptr<Network>> members)
    : Network(members.at(0)->config()), members_(std::move(members)) {
  for (size_t k = 0; k < members_.size(); ++k) {
    const ModelConfig& c = members_[k]->config();
    if (c.task != config().task || outputs_of(c) != outputs_of(config()))
      fail(ErrorKind::kModel,
           "the networks of an ensemble must have one task and one number of outputs, got {} with "
           "{} and {} with {}",
           tasks().name_of(config().task), outputs_of(config()), tasks().name_of(c.task),
           outputs_of(c));
    add_module(std::to_string(k), members_[k]);
  }
}

Tensor Ensemble::forward(Tape& tape, const ModelInput& input) {
  check(!tape.is_recording(), "an ensemble is for inference, it has no gradient");
  const Task task = config().task;
  Tensor sum;
  for (const auto& member : members_) {
    // In double: the sum's order is fixed, its rounding does not show in the float result.
    const Tensor p = member->forward(tape, input).to(DType::kF64).clone();
    to_probability(task, config().outputs, p);
    if (!sum.defined()) {
      sum = p;
      continue;
    }
    expect_matrix("ensemble", "a network's output", p, sum.rows(), sum.columns(), DType::kF64);
    for (int64_t k = 0; k < p.size(); ++k) sum.data<double>()[k] += p.data<double>()[k];
  }
  for (int64_t k = 0; k < sum.size(); ++k) {
    double& value = sum.data<double>()[k];
    value = output_of(task, value / static_cast<double>(members_.size()));
  }
  return sum.to(DType::kF32);
}

}  // namespace egc::models
