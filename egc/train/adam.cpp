#include "egc/train/adam.h"

#include <ATen/ATen.h>

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
  int64_t parameter;
  int64_t begin;  // within the parameter
  int64_t size;
  int64_t position;  // within the moments
};

Adam::Adam(std::vector<at::Tensor> parameters, const AdamOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  int64_t elements = 0;
  for (const at::Tensor& p : parameters_) {
    check(p.scalar_type() == at::kFloat && p.is_contiguous() && p.device().is_cpu(),
          "adam: parameters must be contiguous float32 on the CPU");
    elements += p.numel();
  }
  mean_ = at::zeros({elements}, at::kFloat);
  square_ = at::zeros({elements}, at::kFloat);
}

// Sums of each parameter in double, one after the other: the same for any number of threads.
double Adam::clip_scale() const {
  if (options_.clip == 0) return 1;
  double sum = 0;
  for (const at::Tensor& p : parameters_) {
    if (!p.grad().defined()) continue;
    const at::Tensor gradient = p.grad().contiguous();
    for (const float g : at::ArrayRef<float>(gradient.data_ptr<float>(), gradient.numel()))
      sum += static_cast<double>(g) * g;
  }
  const double norm = std::sqrt(sum);
  return norm > options_.clip ? options_.clip / (norm + 1e-6) : 1;
}

void Adam::step(double lr) {
  ++steps_;
  std::vector<at::Tensor> gradients;
  std::vector<Block> blocks;
  int64_t position = 0;
  for (size_t k = 0; k < parameters_.size(); ++k) {
    const at::Tensor& p = parameters_[k];
    const at::Tensor& g = p.grad();
    gradients.push_back(g.defined() ? g.contiguous() : g);
    for (int64_t at = 0; g.defined() && at < p.numel(); at += kBlock)
      blocks.push_back(
          {static_cast<int64_t>(k), at, std::min(kBlock, p.numel() - at), position + at});
    position += p.numel();
  }
  kernels::AdamStep step;
  step.beta1 = static_cast<float>(options_.beta1);
  step.beta2 = static_cast<float>(options_.beta2);
  step.eps = static_cast<float>(options_.eps);
  step.wd = static_cast<float>(options_.wd);
  step.scale = static_cast<float>(clip_scale());
  const auto steps = static_cast<double>(steps_);
  step.size = static_cast<float>(lr / (1 - std::pow(options_.beta1, steps)));
  step.root = static_cast<float>(std::sqrt(1 - std::pow(options_.beta2, steps)));
  parallel_tasks(static_cast<int64_t>(blocks.size()), [&](int64_t task) {
    const Block& block = blocks[static_cast<size_t>(task)];
    const auto k = static_cast<size_t>(block.parameter);
    kernels::adam(step, block.size, gradients[k].data_ptr<float>() + block.begin,
                  parameters_[k].data_ptr<float>() + block.begin,
                  mean_.data_ptr<float>() + block.position,
                  square_.data_ptr<float>() + block.position);
  });
  for (at::Tensor& p : parameters_) p.mutable_grad().reset();
}

nn::State Adam::state() const {
  return {{"mean", mean_}, {"square", square_}, {"steps", at::full({}, steps_, at::kLong)}};
}

void Adam::load(const nn::State& state, const std::string& where) {
  const auto expect = [&](const char* name, at::ScalarType type, int64_t values) -> at::Tensor {
    const auto it = state.find(name);
    if (it == state.end() || it->second.scalar_type() != type || it->second.numel() != values)
      fail(ErrorKind::kModel, "{}: the state of Adam must have {} values of type {} in \"{}\"",
           where, values, c10::toString(type), name);
    return it->second;
  };
  mean_ = expect("mean", at::kFloat, mean_.numel()).reshape(-1).clone();
  square_ = expect("square", at::kFloat, square_.numel()).reshape(-1).clone();
  steps_ = expect("steps", at::kLong, 1).item<int64_t>();
  if (steps_ < 0) fail(ErrorKind::kModel, "{}: {} steps of Adam", where, steps_);
}

}  // namespace egc::train
