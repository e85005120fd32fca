// Batch norm and dropout over a batch that several processes share: outputs, gradients and running
// statistics of the whole.
#include <gtest/gtest.h>

#include "egc/ops/norm_act.h"
#include "tests/ops/thread_group.h"
#include "tests/tensor/gradcheck.h"

namespace egc::ops {
namespace {

using testing::close;
using testing::random_tensor;
using testing::same_bits;
using testing::tensor_of;

struct Result {
  Tensor y, grad_x, grad_weight, grad_bias, mean, var;
};

Result run(const Tensor& x, const Tensor& residual, const Tensor& upstream, double dropout = 0) {
  BatchNormTensors norm;
  norm.weight = tensor_of(1, 5, {0.5, 0.75, 1, 1.25, 1.5}).with_gradient();
  norm.bias = tensor_of(1, 5, {-1, -0.5, 0, 0.5, 1}).with_gradient();
  norm.running_mean = Tensor::zeros(1, 5, DType::kF64);
  norm.running_var = Tensor::full(1, 5, DType::kF64, 1);
  Tape tape = Tape::training(3);
  const Tensor input = x.with_gradient();
  const Tensor y = batch_norm_act(tape, input, norm, /*relu=*/true, dropout, residual);
  tape.backward(y, upstream);
  return {y.detached(),
          input.gradient()->take(),
          norm.weight.gradient()->take(),
          norm.bias.gradient()->take(),
          norm.running_mean,
          norm.running_var};
}

const std::vector<int64_t> kCuts = {0, 4, 4, 5, 11};  // one rank has no row, one has one

Tensor rows_of(const Tensor& t, int rank) {
  const int64_t first = kCuts[rank];
  const int64_t count = kCuts[rank + 1] - first;
  const Tensor out = Tensor::empty(count, t.columns(), t.dtype());
  std::copy_n(t.data<double>() + first * t.columns(), out.size(), out.data<double>());
  return out;
}

Tensor far_from_zero(int64_t rows, int64_t columns, uint64_t seed) {
  const Tensor x = random_tensor(rows, columns, seed);
  for (int64_t k = 0; k < x.size(); ++k) x.data<double>()[k] = 3 * x.data<double>()[k] + 100;
  return x;
}

TEST(BatchGroup, ShareABatchNorm) {
  const Tensor x = far_from_zero(11, 5, 4);
  const Tensor residual = random_tensor(11, 5, 5);
  const Tensor upstream = random_tensor(11, 5, 6);
  for (const double dropout : {0.0, 0.4}) {
    const Result whole = run(x, residual, upstream, dropout);
    std::vector<Result> parts(kCuts.size() - 1);
    {
      ThreadGroup group(static_cast<int>(parts.size()));
      group.run([&](int k) {
        parts[k] = run(rows_of(x, k), rows_of(residual, k), rows_of(upstream, k), dropout);
      });
    }
    Gradient grad_weight;
    Gradient grad_bias;
    for (int k = 0; k < static_cast<int>(parts.size()); ++k) {
      const Result& part = parts[k];
      EXPECT_TRUE(close(part.y, rows_of(whole.y, k), 1e-10)) << k;
      EXPECT_TRUE(close(part.grad_x, rows_of(whole.grad_x, k), 1e-10)) << k;
      EXPECT_TRUE(close(part.mean, whole.mean, 1e-12)) << k;
      EXPECT_TRUE(close(part.var, whole.var, 1e-12)) << k;
      EXPECT_TRUE(same_bits(part.mean, parts[0].mean)) << k;
      EXPECT_TRUE(same_bits(part.var, parts[0].var)) << k;
      grad_weight.add(part.grad_weight);
      grad_bias.add(part.grad_bias);
    }
    EXPECT_TRUE(close(grad_weight.value(), whole.grad_weight, 1e-10));
    EXPECT_TRUE(close(grad_bias.value(), whole.grad_bias, 1e-10));
  }
}

// As if the rows were one matrix, rank after rank.
TEST(BatchGroup, DrawsDropoutOfTheWhole) {
  const Tensor x = random_tensor(11, 7, 1);
  const auto dropped = [](const Tensor& rows) {
    Tape tape = Tape::training(8);
    return relu_dropout(tape, dropout(tape, rows, 0.5), 0.3);
  };
  const Tensor whole = dropped(x);
  std::vector<Tensor> parts(kCuts.size() - 1);
  {
    ThreadGroup group(static_cast<int>(parts.size()));
    group.run([&](int k) { parts[k] = dropped(rows_of(x, k)); });
  }
  for (int k = 0; k < static_cast<int>(parts.size()); ++k)
    EXPECT_TRUE(same_bits(parts[k], rows_of(whole, k))) << k;
}

}  // namespace
}  // namespace egc::ops
