#include "egc/models/ensemble.h"

#include <ATen/ATen.h>

#include "egc/core/error.h"

namespace egc::models {
namespace {

at::Tensor probability(Task task, const at::Tensor& output) {
  switch (task) {
    case Task::kGraphRegression:
      return output;
    case Task::kGraphBinary:
      return output.sigmoid();
    case Task::kGraphClassification:
    case Task::kGraphSequence:
      return output.softmax(-1);
    case Task::kNodeClassification:
    case Task::kNodeClassificationHetero:
      return output.exp();
  }
  fail(ErrorKind::kUsage, "ensemble: unknown task");
}

at::Tensor output_of(Task task, const at::Tensor& probability) {
  if (task == Task::kGraphRegression) return probability;
  if (task == Task::kGraphBinary) return probability.logit();
  return probability.log();
}

}  // namespace

Ensemble::Ensemble(std::vector<std::shared_ptr<Network>> members)
    : Network(members.at(0)->config()), members_(std::move(members)) {
  for (size_t k = 0; k < members_.size(); ++k) {
    const ModelConfig& c = members_[k]->config();
    if (c.task != config().task || c.outputs != config().outputs)
      fail(ErrorKind::kModel,
           "the networks of an ensemble must have one task and one number of "
           "outputs, got {} with {} and {} with {}",
           tasks().name_of(config().task), config().outputs, tasks().name_of(c.task), c.outputs);
    register_module(std::to_string(k), members_[k]);
  }
}

at::Tensor Ensemble::forward(const ModelInput& input) {
  const Task task = config().task;
  at::Tensor sum;
  for (const auto& member : members_) {
    // In double: the sum's order is fixed, its rounding does not show in the float result.
    const at::Tensor p = probability(task, member->forward(input).to(at::kDouble));
    sum = sum.defined() ? sum + p : p;
  }
  return output_of(task, sum / static_cast<double>(members_.size())).to(at::kFloat);
}

}  // namespace egc::models
