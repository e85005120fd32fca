// The operators under their torch names, as TorchScript and Python see them.
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/custom_class.h>

#include "egc/ops/composed.h"
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

// An egc::Graph made as TorchScript makes one: an empty object, then its __init__.
c10::IValue make_graph(const at::Tensor& edge_index, int64_t num_nodes) {
  const auto type = torch::getCustomClass("__torch__.torch.classes.egc.Graph");
  c10::IValue self = c10::ivalue::Object::create(c10::StrongTypePtr(nullptr, type), 1);
  torch::jit::Stack stack = {self, edge_index, num_nodes, c10::IValue()};
  type->getMethod("__init__").run(stack);
  return self;
}

TEST(Library, FusedAggregateByItsTorchName) {
  const Csr graph = awkward_graph();
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      source.push_back(graph.sources()[e]);
      target.push_back(i);
    }
  const at::Tensor edges = at::stack({at::tensor(source), at::tensor(target)});
  const at::Tensor bases = at::randn({14, 6}, at::kDouble);
  const at::Tensor weights = at::randn({14, 8}, at::kDouble);
  torch::jit::Stack stack = {make_graph(edges, 14),
                             bases,
                             weights,
                             c10::IValue(),
                             c10::List<std::string>({"max", "mean"}),
                             2,
                             2,
                             "all"};
  c10::Dispatcher::singleton().findSchemaOrThrow("egc::fused_aggregate", "").callBoxed(&stack);
  const kernels::FusedShape shape{{Aggregator::kMax, Aggregator::kMean}, SelfLoops::kAll, 2, 2, 3};
  const at::Tensor want = ops::composed_aggregate(graph, shape, bases, weights, c10::nullopt);
  EXPECT_LE(relative_difference(stack.at(0).toTensor(), want), 1e-12);
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
