// Layer norm, ReLU, dropout and residual as an operator: gradients by finite differences, its
// definition, bad input. The kernel's numbers are tests/kernels/layer_norm_test.cpp.
#include <cmath>

#include "egc/ops/norm_act.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/tensor/gradcheck.h"

namespace egc::ops {
namespace {

using testing::close;
using testing::expect_error;
using testing::expect_gradients;
using testing::NamedTensor;
using testing::random_tensor;
using testing::same_bits;
using testing::tensor_of;

LayerNormTensors norm_of(int64_t columns, DType type = DType::kF64) {
  return {random_tensor(1, columns, 31, type).with_gradient(),
          random_tensor(1, columns, 32, type).with_gradient()};
}

TEST(LayerNorm, Gradcheck) {
  for (const bool in_training : {true, false})
    for (const bool relu : {false, true})
      for (const double dropout : {0.0, 0.4})
        for (const bool with_residual : {false, true}) {
          SCOPED_TRACE(fmt::format("training={} relu={} dropout={} residual={}", in_training, relu,
                                   dropout, with_residual));
          const Tensor x = random_tensor(9, 5, 1).with_gradient();
          const LayerNormTensors norm = norm_of(5);
          std::vector<NamedTensor> inputs = {
              {"x", x}, {"weight", norm.weight}, {"bias", norm.bias}};
          Tensor residual;
          if (with_residual) {
            residual = random_tensor(9, 5, 2).with_gradient();
            inputs.push_back({"residual", residual});
          }
          expect_gradients(
              inputs, [&] { return in_training ? Tape::training(17) : Tape::differentiation(); },
              [&](Tape& tape) { return layer_norm_act(tape, x, norm, relu, dropout, residual); },
              1e-6);
        }
}

TEST(LayerNorm, IsItsDefinition) {
  // Mean 2, biased variance 2, and one value five times.
  const Tensor x = tensor_of(2, 5, {0, 1, 2, 3, 4, 7, 7, 7, 7, 7});
  const LayerNormTensors norm = {tensor_of(1, 5, {1, 2, 3, 4, 5}),
                                 tensor_of(1, 5, {0, 0, 9, 0, 1})};
  const double s = std::sqrt(2 + 1e-5);
  const Tensor residual = tensor_of(2, 5, {10, 10, 10, 10, 10, 0, 0, 0, 0, 0});
  for (const bool recorded : {false, true}) {
    Tape tape = recorded ? Tape::differentiation() : Tape::inference();
    const Tensor plain = layer_norm_act(tape, x, norm, false, 0.5, {});
    EXPECT_TRUE(close(plain, tensor_of(2, 5, {-2 / s, -2 / s, 9, 4 / s, 10 / s + 1, 0, 0, 9, 0, 1}),
                      1e-12));
    const Tensor all = layer_norm_act(tape, x, norm, true, 0.5, residual);
    EXPECT_TRUE(
        close(all, tensor_of(2, 5, {10, 10, 19, 10 + 4 / s, 10 / s + 11, 0, 0, 9, 0, 1}), 1e-12));
  }
  Tape tape = Tape::inference();
  EXPECT_EQ(layer_norm_act(tape, Tensor::zeros(0, 5, DType::kF64), norm, true, 0, {}).rows(), 0);
}

TEST(LayerNorm, SharedInputsAddUp) {
  const Tensor x = random_tensor(8, 4, 1).with_gradient();
  const LayerNormTensors norm = norm_of(4);
  expect_gradients(
      {{"x", x}, {"weight", norm.weight}, {"bias", norm.bias}}, [] { return Tape::training(3); },
      [&](Tape& tape) {
        const Tensor once = layer_norm_act(tape, x, norm, true, 0.2, x);
        return layer_norm_act(tape, once, norm, false, 0, x);
      });
}

TEST(LayerNorm, SameBitsForAnyNumberOfThreads) {
  const Tensor x = random_tensor(5000, 23, 1, DType::kF32).with_gradient();
  const Tensor upstream = random_tensor(5000, 23, 2, DType::kF32);
  std::vector<Tensor> first;
  for (const int threads : {1, 2, 3, 8}) {
    const testing::ThreadCount count(threads);
    const LayerNormTensors norm = norm_of(23, DType::kF32);
    Tape tape = Tape::training(5);
    const Tensor y = layer_norm_act(tape, x, norm, true, 0.3, {});
    tape.backward(y, upstream);
    const std::vector<Tensor> all = {y.detached(), x.gradient()->take(),
                                     norm.weight.gradient()->take(), norm.bias.gradient()->take()};
    if (first.empty()) first = all;
    for (size_t k = 0; k < all.size(); ++k)
      EXPECT_TRUE(same_bits(all[k], first[k])) << threads << " threads, tensor " << k;
  }
}

TEST(LayerNorm, BadInputIsNamed) {
  const LayerNormTensors norm = norm_of(4);
  Tape tape = Tape::training(1);
  const auto refuses = [](std::initializer_list<std::string> parts, const auto& f) {
    expect_error(ErrorKind::kUsage, parts, f);
  };
  refuses({"layer norm: x must be [N, 4] float64, got [6, 5] float64"},
          [&] { layer_norm_act(tape, random_tensor(6, 5, 1), norm, true, 0, {}); });
  refuses({"layer norm: the residual must be [6, 4] float64, got [5, 4] float64"}, [&] {
    layer_norm_act(tape, random_tensor(6, 4, 1), norm, true, 0, random_tensor(5, 4, 1));
  });
  refuses({"layer norm: bias must be [1, 4] float64, got [1, 3] float64"}, [&] {
    layer_norm_act(tape, random_tensor(6, 4, 1), {norm.weight, random_tensor(1, 3, 1)}, true, 0,
                   {});
  });
  refuses({"dropout", "-0.1"},
          [&] { layer_norm_act(tape, random_tensor(6, 4, 1), norm, true, -0.1, {}); });
}

}  // namespace
}  // namespace egc::ops
