// The operator on parts of a graph: the rows and gradients of the whole.
#include "egc/ops/halo_exchange.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "egc/core/rng.h"
#include "egc/graph/partition.h"
#include "egc/ops/fused_aggregate.h"
#include "tests/ops/thread_group.h"

namespace egc::ops {
namespace {

// Hubs, duplicates, loops, isolated nodes.
Csr some_graph(int64_t nodes, int64_t edges, bool weighted) {
  Rng rng(5);
  std::vector<int64_t> source, target;
  std::vector<float> weights;
  for (int64_t e = 0; e < edges; ++e) {
    source.push_back(rng.below(static_cast<uint32_t>(1 + rng.below(static_cast<uint32_t>(nodes)))));
    target.push_back(rng.below(static_cast<uint32_t>(nodes - 3)));
    if (weighted) weights.push_back(static_cast<float>(0.5 + rng.uniform()));
  }
  return Csr::from_edges(nodes, source, target, weights);
}

struct Exchanged {
  at::Tensor y, grad_bases, grad_weights, grad_bias;
};

Exchanged run(const Csr& graph, const kernels::FusedShape& shape, const at::Tensor& bases,
              const at::Tensor& weights, const at::Tensor& bias, const at::Tensor& upstream) {
  const at::Tensor x = bases.clone().requires_grad_();
  const at::Tensor w = weights.clone().requires_grad_();
  const at::Tensor b = bias.clone().requires_grad_();
  const at::Tensor y =
      fused_aggregate(graph, shape, SliceLayout::row_major(shape.bases, shape.head_width), x, w, b);
  y.backward(upstream);
  return {y.detach(), x.grad(), w.grad(), b.grad()};
}

struct Part {
  std::vector<int64_t> nodes;
  Csr graph;
};

std::vector<Part> cut(const Csr& graph, int64_t parts, PartitionMethod method) {
  const HeteroSchema schema = HeteroSchema::homogeneous();
  const HeteroGraph whole = HeteroGraph::homogeneous(graph);
  const std::vector<int32_t> part_of = partition(schema, whole, parts, method);
  std::vector<Part> out;
  for (int64_t k = 0; k < parts; ++k) {
    GraphPart part = cut_part(schema, whole, part_of, parts, k);
    out.push_back({std::move(part.nodes[0]), part.graph.relations[0]});
  }
  return out;
}

class Parts : public ::testing::TestWithParam<std::tuple<SelfLoops, bool, int>> {};

TEST_P(Parts, AreTheWhole) {
  const auto [loops, weighted, parts] = GetParam();
  constexpr int64_t kNodes = 60;
  const Csr graph = some_graph(kNodes, 260, weighted);
  const AggregatorSet all = {Aggregator::kAdd, Aggregator::kMean, Aggregator::kSymnorm,
                             Aggregator::kMax, Aggregator::kMin,  Aggregator::kVar,
                             Aggregator::kStd};
  const kernels::FusedShape shape{all, loops, /*heads=*/2, /*bases=*/3, /*head_width=*/5};
  at::manual_seed(6);
  const at::Tensor bases = at::randn({kNodes, 15}, at::kDouble);
  const at::Tensor weights = at::randn({kNodes, shape.weights_per_row()}, at::kDouble);
  const at::Tensor bias = at::randn({10}, at::kDouble);
  const at::Tensor upstream = at::randn({kNodes, 10}, at::kDouble);
  const Exchanged whole = run(graph, shape, bases, weights, bias, upstream);

  for (const PartitionMethod method : {PartitionMethod::kMetis, PartitionMethod::kRanges}) {
    const std::vector<Part> share = cut(graph, parts, method);
    std::vector<Exchanged> of_part(static_cast<size_t>(parts));
    const auto rows = [&](const at::Tensor& t, int k) {
      return t.index_select(0, at::tensor(share[k].nodes, at::kLong));
    };
    ThreadGroup group(parts);
    group.run([&](int k) {
      of_part[k] =
          run(share[k].graph, shape, rows(bases, k), rows(weights, k), bias, rows(upstream, k));
    });
    at::Tensor grad_bias = at::zeros_like(bias);
    for (int k = 0; k < parts; ++k) {
      const auto same = [&](const at::Tensor& a, const at::Tensor& b) {
        return at::allclose(a, rows(b, k), 1e-9, 1e-10);
      };
      EXPECT_TRUE(same(of_part[k].y, whole.y)) << k;
      EXPECT_TRUE(same(of_part[k].grad_bases, whole.grad_bases)) << k;
      EXPECT_TRUE(same(of_part[k].grad_weights, whole.grad_weights)) << k;
      grad_bias += of_part[k].grad_bias;
    }
    EXPECT_TRUE(at::allclose(grad_bias, whole.grad_bias, 1e-9, 1e-10));
  }
}

INSTANTIATE_TEST_SUITE_P(Halo, Parts,
                         ::testing::Combine(::testing::Values(SelfLoops::kNone, SelfLoops::kSymnorm,
                                                              SelfLoops::kAll),
                                            ::testing::Bool(), ::testing::Values(2, 3, 7)));

TEST(Halo, NeedsAGroup) {
  const Csr graph = some_graph(20, 60, false);
  const Part part = cut(graph, 2, PartitionMethod::kRanges)[0];
  const at::Tensor x = at::zeros({std::ssize(part.nodes), 3});
  EXPECT_THROW(aggregate(part.graph, {Aggregator::kAdd}, SelfLoops::kNone, x), Error);
}

}  // namespace
}  // namespace egc::ops
