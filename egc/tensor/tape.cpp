#include "egc/tensor/tape.h"

namespace egc {

Tape::~Tape() {
  // A pass that was never taken backwards.
  for (Node& node : nodes_)
    for (const auto& input : node.inputs) --input->pending_;
}

uint64_t Tape::next_seed() {
  const uint64_t high = rng_();
  return (high << 32) | rng_();
}

bool Tape::wants(std::initializer_list<const Tensor*> inputs) const {
  if (!recording_) return false;
  for (const Tensor* t : inputs)
    if (t->gradient() != nullptr) return true;
  return false;
}

bool Tape::wants(std::span<const Tensor> inputs) const {
  if (!recording_) return false;
  for (const Tensor& t : inputs)
    if (t.gradient() != nullptr) return true;
  return false;
}

void Tape::record(Tensor& output, const std::vector<Tensor>& inputs, Backward backward) {
  check(recording_, "a pass of inference records nothing");
  output = output.with_gradient();
  Node& node = nodes_.emplace_back();
  node.output = output.gradient();
  node.backward = std::move(backward);
  for (const Tensor& input : inputs) {
    if (input.gradient() == nullptr) continue;
    ++input.gradient()->pending_;
    node.inputs.push_back(input.gradient());
  }
}

void Tape::finish(Node& node) {
  for (const auto& input : node.inputs)
    if (--input->pending_ == 0 && input->on_complete && input->value().defined())
      input->on_complete();
  node = {};
}

void Tape::backward(const Tensor& output, const Tensor& grad_output) {
  expect_matrix("backward", "the gradient of the output", grad_output, output.rows(),
                output.columns(), output.dtype());
  backward(output.gradient(), grad_output);
}

void Tape::backward(const std::shared_ptr<Gradient>& output, const Tensor& grad_output) {
  check(output != nullptr && !nodes_.empty(),
        "backward: the output depends on nothing that has a gradient");
  output->add(grad_output);
  while (!nodes_.empty()) {
    // Nobody else needs an inner gradient: it is freed as soon as it was used.
    const Tensor gradient = nodes_.back().output->take();
    // An operator that throws is still on the tape, whose end counts it off.
    if (gradient.defined()) nodes_.back().backward(gradient);
    Node done = std::move(nodes_.back());
    nodes_.pop_back();
    finish(done);
  }
}

}  // namespace egc
