#include "egc/train/adam.h"

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/kernels/adam.h"

namespace egc::train {
namespace {

constexpr int64_t kBlock = 1 << 15;  // elements of a task

}  // namespace

struct Adam::Block {
  size_t parameter;
  int64_t begin;  // within the parameter
  int64_t size;
  int64_t position;  // within the moments
};

Adam::Adam(std::vector<nn::ParameterPtr> parameters, const AdamOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  size_t elements = 0;
  for (const nn::ParameterPtr& p : parameters_) {
    check(p->value.dtype() == DType::kF32, "adam: parameters must be float32, got {}",
          describe(p->value));
    elements += static_cast<size_t>(p->value.size());
  }
  mean_.assign(elements, 0);
  square_.assign(elements, 0);
}

// Sums of each parameter in double, one after the other: the same for any number of threads.
double Adam::clip_scale(const std::vector<Tensor>& gradients) const {
  if (options_.clip == 0) return 1;
  double sum = 0;
  for (const Tensor& g : gradients)
    for (int64_t k = 0; g.defined() && k < g.size(); ++k) {
      const double value = g.data<float>()[k];
      sum += value * value;
    }
  const double norm = std::sqrt(sum);
  return norm > options_.clip ? options_.clip / (norm + 1e-6) : 1;
}

void Adam::step(double lr) {
  ++steps_;
  std::vector<Tensor> gradients;
  std::vector<Block> blocks;
  int64_t position = 0;
  for (size_t k = 0; k < parameters_.size(); ++k) {
    const int64_t size = parameters_[k]->value.size();
    gradients.push_back(parameters_[k]->value.gradient()->take());
    for (int64_t at = 0; gradients.back().defined() && at < size; at += kBlock)
      blocks.push_back({k, at, std::min(kBlock, size - at), position + at});
    position += size;
  }
  kernels::AdamStep step;
  step.beta1 = static_cast<float>(options_.beta1);
  step.beta2 = static_cast<float>(options_.beta2);
  step.eps = static_cast<float>(options_.eps);
  if (options_.decoupled)
    step.keep = static_cast<float>(1 - lr * options_.wd);
  else
    step.wd = static_cast<float>(options_.wd);
  step.scale = static_cast<float>(clip_scale(gradients));
  const auto steps = static_cast<double>(steps_);
  step.size = static_cast<float>(lr / (1 - std::pow(options_.beta1, steps)));
  step.root = static_cast<float>(std::sqrt(1 - std::pow(options_.beta2, steps)));
  parallel_tasks(std::ssize(blocks), [&](int64_t task) {
    const Block& block = blocks[static_cast<size_t>(task)];
    kernels::adam(step, block.size, gradients[block.parameter].data<float>() + block.begin,
                  parameters_[block.parameter]->value.data<float>() + block.begin,
                  mean_.data() + block.position, square_.data() + block.position);
  });
}

State Adam::state() const {
  const auto flat = [](const std::vector<float>& values) {
    return NdArray({std::ssize(values)}, std::span<const float>(values));
  };
  return {{"mean", flat(mean_)},
          {"square", flat(square_)},
          {"steps", NdArray({}, std::span<const int64_t>(&steps_, 1))}};
}

void Adam::load(const State& state, const std::string& where) {
  const auto expect = [&](const char* name, DType type, int64_t values) -> const NdArray& {
    const auto it = state.find(name);
    if (it == state.end() || it->second.dtype() != type || it->second.numel() != values)
      fail(ErrorKind::kModel, "{}: the state of Adam must have {} values of type {} in \"{}\"",
           where, values, spelled_name_of(type), name);
    return it->second;
  };
  const auto mean = expect("mean", DType::kF32, std::ssize(mean_)).values<float>();
  const auto square = expect("square", DType::kF32, std::ssize(square_)).values<float>();
  const int64_t steps = expect("steps", DType::kI64, 1).values<int64_t>()[0];
  if (steps < 0) fail(ErrorKind::kModel, "{}: {} steps of Adam", where, steps);
  mean_.assign(mean.begin(), mean.end());
  square_.assign(square.begin(), square.end());
  steps_ = steps;
}

}  // namespace egc::train
