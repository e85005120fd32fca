// Batch norm over a batch that several processes share: outputs, gradients and running statistics
// of the whole.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "egc/ops/norm_act.h"
#include "tests/ops/thread_group.h"

namespace egc::ops {
namespace {

struct Result {
  at::Tensor y, grad_x, grad_weight, grad_bias, mean, var;
};

Result run(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& upstream) {
  const int64_t columns = x.size(1);
  BatchNormTensors norm;
  norm.weight = at::linspace(0.5, 1.5, columns, at::kDouble).requires_grad_();
  norm.bias = at::linspace(-1, 1, columns, at::kDouble).requires_grad_();
  norm.running_mean = at::zeros({columns}, at::kDouble);
  norm.running_var = at::ones({columns}, at::kDouble);
  const at::Tensor input = x.clone().requires_grad_();
  const at::Tensor y =
      batch_norm_act(input, norm, /*training=*/true, /*relu=*/true, /*dropout=*/0, residual);
  y.backward(upstream);
  return {y.detach(),       input.grad(),      norm.weight.grad(),
          norm.bias.grad(), norm.running_mean, norm.running_var};
}

TEST(BatchGroup, ShareABatchNorm) {
  at::manual_seed(4);
  const at::Tensor x = at::randn({11, 5}, at::kDouble) * 3 + 100;
  const at::Tensor residual = at::randn({11, 5}, at::kDouble);
  const at::Tensor upstream = at::randn({11, 5}, at::kDouble);
  const Result whole = run(x, residual, upstream);

  const std::vector<int64_t> cuts = {0, 4, 4, 5, 11};  // one rank has no row, one has one
  std::vector<Result> parts(cuts.size() - 1);
  {
    ThreadGroup group(static_cast<int>(parts.size()));
    group.run([&](int k) {
      const auto rows = [&](const at::Tensor& t) { return t.slice(0, cuts[k], cuts[k + 1]); };
      parts[k] = run(rows(x), rows(residual).contiguous(), rows(upstream).contiguous());
    });
  }
  std::vector<at::Tensor> y, grad_x;
  at::Tensor grad_weight = at::zeros({5}, at::kDouble);
  at::Tensor grad_bias = at::zeros({5}, at::kDouble);
  for (const Result& part : parts) {
    y.push_back(part.y);
    grad_x.push_back(part.grad_x);
    grad_weight += part.grad_weight;
    grad_bias += part.grad_bias;
    EXPECT_TRUE(at::allclose(part.mean, whole.mean, 1e-12));
    EXPECT_TRUE(at::allclose(part.var, whole.var, 1e-12));
  }
  EXPECT_TRUE(at::allclose(at::cat(y), whole.y, 1e-9, 1e-9));
  EXPECT_TRUE(at::allclose(at::cat(grad_x), whole.grad_x, 1e-9, 1e-9));
  EXPECT_TRUE(at::allclose(grad_weight, whole.grad_weight, 1e-9, 1e-9));
  EXPECT_TRUE(at::allclose(grad_bias, whole.grad_bias, 1e-9, 1e-9));
}

}  // namespace
}  // namespace egc::ops
