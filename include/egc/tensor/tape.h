// The tape: what a forward pass records for the backward pass.
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

// One forward pass: its mode, and the operators that it has recorded.
//
// Operators append themselves in the order in which they run; backward() visits them in reverse. An
// inference tape records nothing, so intermediate results are freed at once. Use a new tape for
// every forward pass.
class Tape {
 public:
  // Records nothing; batch norm uses its running statistics, dropout does nothing.
  static Tape inference() { return Tape(false, false, 0); }
  // Records; batch norm uses the statistics of the batch, dropout draws from the seed.
  static Tape training(uint64_t seed) { return Tape(true, true, seed); }
  // Records, but computes as in inference: for gradients of a trained network's outputs.
  static Tape differentiation() { return Tape(true, false, 0); }

  ~Tape();                 // frees what was recorded
  Tape(Tape&&) = default;  // moves what was recorded
  Tape& operator=(Tape&&) = delete;

  bool is_recording() const { return recording_; }  // whether backward() is possible
  // Whether batch norm and dropout behave as in training.
  bool is_training() const { return training_; }
  // The seed for the next operator that draws random numbers: a function of the tape's seed and of
  // the number of earlier draws.
  uint64_t next_seed();

  // Whether some of the inputs need a gradient on this tape.
  bool wants(std::initializer_list<const Tensor*> inputs) const;
  // As above.
  bool wants(std::span<const Tensor> inputs) const;

  // Backward function of an operator: receives the complete gradient of the output and adds to the
  // gradients of the inputs.
  using Backward = std::function<void(const Tensor& grad_output)>;
  // Records an operator and gives its output a gradient. `backward` is not called if nothing
  // depends on the output.
  void record(Tensor& output, const std::vector<Tensor>& inputs, Backward backward);

  // Runs the backward pass from `output`, which a recorded operator must have produced, and its
  // gradient [rows, columns]. Gradients are added to those of the parameters. Clears the tape.
  void backward(const Tensor& output, const Tensor& grad_output);
  // As above, for callers that kept only the output's gradient().
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
