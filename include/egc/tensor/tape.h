// One forward pass: what it records for the backward pass, and whether it trains.
//
// Operators append themselves in the order in which they run, so going backwards over the tape
// visits each after everything that used its output. In inference nothing is recorded, and nothing
// is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "egc/core/rng.h"
#include "egc/tensor/gradient.h"
#include "egc/tensor/tensor.h"

namespace egc {

class Tape {
 public:
  // Nothing is recorded; batch norm takes its running statistics, dropout does nothing.
  static Tape inference() { return Tape(false, false, 0); }
  // Recorded, with the batch's statistics and with dropout drawn from the seed.
  static Tape training(uint64_t seed) { return Tape(true, true, seed); }
  // Recorded, but computed as in inference: gradients of what a trained network says.
  static Tape differentiation() { return Tape(true, false, 0); }

  ~Tape();
  Tape(Tape&&) = default;
  Tape& operator=(Tape&&) = delete;

  bool is_recording() const { return recording_; }
  bool is_training() const { return training_; }
  // For the next operator that draws: a function of the pass's seed and of the operators before.
  uint64_t next_seed();

  // Whether an operator over these inputs has a gradient to compute.
  bool wants(std::initializer_list<const Tensor*> inputs) const;
  bool wants(std::span<const Tensor> inputs) const;

  // Gives the output a gradient. `backward` gets it, complete, and adds to those of the inputs; it
  // is not called where nothing depends on the output.
  using Backward = std::function<void(const Tensor& grad_output)>;
  void record(Tensor& output, std::vector<Tensor> inputs, Backward backward);

  // From the output of a recorded operator and the gradient of a number with respect to it. What
  // was recorded is gone afterwards.
  void backward(const Tensor& output, const Tensor& grad_output);
  // The same for who kept the output's gradient, but not the output.
  void backward(const std::shared_ptr<Gradient>& output, const Tensor& grad_output);

 private:
  struct Node {
    std::shared_ptr<Gradient> output;
    std::vector<std::shared_ptr<Gradient>> inputs;
    Backward backward;
  };
  Tape(bool recording, bool training, uint64_t seed)
      : recording_(recording), training_(training), rng_(seed, kStream) {}
  static void finish(Node& node);

  static constexpr uint64_t kStream = 0x7A9E;
  bool recording_;
  bool training_;
  Rng rng_;
  std::vector<Node> nodes_;
};

}  // namespace egc
