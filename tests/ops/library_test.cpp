// The operators under their torch names, as TorchScript and Python see them.
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/custom_class.h>

#include "egc/ops/spmm.h"
#include "tests/kernels/random_problem.h"
#include "tests/ops/tensors.h"

namespace egc {
namespace {

using testing::awkward_graph;
using testing::relative_difference;

TEST(Library, OperatorsAreRegistered) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const char* name : {"egc::fused_aggregate", "egc::spmm"})
    EXPECT_TRUE(dispatcher.findSchema({name, ""}).has_value()) << name;
  EXPECT_TRUE(torch::getCustomClass("__torch__.torch.classes.egc.Graph"));
}

TEST(Spmm, TensorsAndGradient) {
  const Csr graph = awkward_graph(true);
  at::Tensor x = at::randn({14, 5}, at::kDouble).requires_grad_();
  const at::Tensor r = at::randn({14, 5}, at::kDouble);
  const auto run = [&] { return ops::spmm(graph, x); };
  (run() * r).sum().backward();
  EXPECT_LE(relative_difference(x.grad(), testing::numeric_gradient(run, x, r)), 1e-7);
  EXPECT_THROW(ops::spmm(graph, at::ones({13, 5})), Error);
}

}  // namespace
}  // namespace egc
