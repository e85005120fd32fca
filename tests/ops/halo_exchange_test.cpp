// The operators on parts of a graph: the rows and gradients of the whole.
#include "egc/ops/halo_exchange.h"

#include <gtest/gtest.h>

#include "egc/core/rng.h"
#include "egc/graph/partition.h"
#include "egc/ops/aggregate.h"
#include "egc/ops/egc.h"
#include "tests/core/expect_error.h"
#include "tests/ops/thread_group.h"
#include "tests/tensor/tensors.h"

namespace egc::ops {
namespace {

using testing::close;
using testing::random_tensor;

constexpr int64_t kNodes = 60;
const AggregatorSet kAllAggregators = {Aggregator::kAdd, Aggregator::kMean, Aggregator::kSymnorm,
                                       Aggregator::kMax, Aggregator::kMin,  Aggregator::kVar,
                                       Aggregator::kStd};

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

// An operator over a graph: the output, then the gradients of what has a row per node, then those
// of what all nodes share.
struct Result {
  std::vector<Tensor> by_row;
  std::vector<Tensor> shared;
};
using Operator = std::function<Tensor(Tape&, const Csr&, const std::vector<Tensor>& by_row,
                                      const std::vector<Tensor>& shared)>;

std::vector<Tensor> with_gradients(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.with_gradient());
  return out;
}

Result run(const Operator& f, const Csr& graph, const std::vector<Tensor>& by_row,
           const std::vector<Tensor>& shared, const Tensor& upstream) {
  const std::vector<Tensor> x = with_gradients(by_row);
  const std::vector<Tensor> w = with_gradients(shared);
  Tape tape = Tape::training(0);
  const Tensor y = f(tape, graph, x, w);
  tape.backward(y, upstream);
  Result out{{y.detached()}, {}};
  for (const Tensor& t : x) out.by_row.push_back(t.gradient()->take());
  for (const Tensor& t : w) out.shared.push_back(t.gradient()->take());
  return out;
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

Tensor rows_of(const Tensor& t, const std::vector<int64_t>& nodes) {
  const Tensor out = Tensor::empty(std::ssize(nodes), t.columns(), t.dtype());
  for (size_t k = 0; k < nodes.size(); ++k)
    std::copy_n(t.data<double>() + nodes[k] * t.columns(), t.columns(),
                out.data<double>() + static_cast<int64_t>(k) * t.columns());
  return out;
}

void expect_parts_are_the_whole(const Operator& f, const Csr& graph, int parts,
                                const std::vector<Tensor>& by_row,
                                const std::vector<Tensor>& shared, int64_t columns) {
  const Tensor upstream = random_tensor(kNodes, columns, 99);
  const Result whole = run(f, graph, by_row, shared, upstream);
  for (const PartitionMethod method : {PartitionMethod::kMetis, PartitionMethod::kRanges}) {
    const std::vector<Part> share = cut(graph, parts, method);
    std::vector<Result> of_part(static_cast<size_t>(parts));
    ThreadGroup group(parts);
    group.run([&](int k) {
      std::vector<Tensor> mine;
      for (const Tensor& t : by_row) mine.push_back(rows_of(t, share[k].nodes));
      std::vector<Tensor> own;
      for (const Tensor& t : shared) own.push_back(t.clone());
      of_part[k] = run(f, share[k].graph, mine, own, rows_of(upstream, share[k].nodes));
    });
    for (int k = 0; k < parts; ++k)
      for (size_t t = 0; t < whole.by_row.size(); ++t)
        EXPECT_TRUE(close(of_part[k].by_row[t], rows_of(whole.by_row[t], share[k].nodes), 1e-10))
            << "part " << k << " tensor " << t;
    for (size_t t = 0; t < whole.shared.size(); ++t) {
      Gradient sum;
      for (const Result& part : of_part) sum.add(part.shared[t]);
      EXPECT_TRUE(close(sum.value(), whole.shared[t], 1e-10)) << "shared tensor " << t;
    }
  }
}

class Parts : public ::testing::TestWithParam<std::tuple<SelfLoops, bool, int>> {};

TEST_P(Parts, OfAnAggregationOfBases) {
  const auto [loops, weighted, parts] = GetParam();
  const EgcShape shape{kAllAggregators, loops, /*heads=*/2, /*bases=*/3};
  expect_parts_are_the_whole(
      [&](Tape& tape, const Csr& graph, const auto& rows, const auto& shared) {
        return egc_aggregate(tape, shape, rows[0], rows[1], shared[0], graph);
      },
      some_graph(kNodes, 260, weighted), parts,
      {random_tensor(kNodes, 15, 1), random_tensor(kNodes, 2 * 7 * 3, 2)},
      {random_tensor(1, 10, 3)}, 10);
}

TEST_P(Parts, OfEgc) {
  const auto [loops, weighted, parts] = GetParam();
  const EgcShape shape{kAllAggregators, loops, /*heads=*/2, /*bases=*/3,
                       WeightActivation::kSoftmax};
  expect_parts_are_the_whole(
      [&](Tape& tape, const Csr& graph, const auto& rows, const auto& shared) {
        return egc(tape, shape, {shared[0], shared[1], shared[2], shared[3]}, rows[0], graph);
      },
      some_graph(kNodes, 260, weighted), parts, {random_tensor(kNodes, 4, 1)},
      {random_tensor(15, 4, 2), random_tensor(42, 4, 3), random_tensor(1, 42, 4),
       random_tensor(1, 10, 5)},
      10);
}

TEST_P(Parts, OfPlainAggregates) {
  const auto [loops, weighted, parts] = GetParam();
  expect_parts_are_the_whole(
      [&, mode = loops](Tape& tape, const Csr& graph, const auto& rows, const auto& shared) {
        return aggregate(tape, graph, kAllAggregators, mode, rows[0], shared[0]);
      },
      some_graph(kNodes, 260, weighted), parts, {random_tensor(kNodes, 3, 1)},
      {random_tensor(1, 21, 2)}, 21);
}

INSTANTIATE_TEST_SUITE_P(Halo, Parts,
                         ::testing::Combine(::testing::Values(SelfLoops::kNone, SelfLoops::kSymnorm,
                                                              SelfLoops::kAll),
                                            ::testing::Bool(), ::testing::Values(2, 3, 7)));

// In inference, too, with the rows of others arriving late.
TEST(Halo, InferenceOfPartsIsTheWhole) {
  const Csr graph = some_graph(kNodes, 260, false);
  const Tensor x = random_tensor(kNodes, 3, 1);
  Tape tape = Tape::inference();
  const Tensor whole = aggregate(tape, graph, kAllAggregators, SelfLoops::kAll, x);
  const std::vector<Part> share = cut(graph, 3, PartitionMethod::kRanges);
  std::vector<Tensor> y(3);
  {
    ThreadGroup group(3);
    group.run([&](int k) {
      Tape own = Tape::inference();
      y[k] = aggregate(own, share[k].graph, kAllAggregators, SelfLoops::kAll,
                       rows_of(x, share[k].nodes));
    });
  }
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(close(y[k], rows_of(whole, share[k].nodes), 1e-12)) << k;
}

TEST(Halo, NeedsAGroup) {
  const Part part = cut(some_graph(20, 60, false), 2, PartitionMethod::kRanges)[0];
  const Tensor x = Tensor::zeros(std::ssize(part.nodes), 3, DType::kF64);
  Tape tape = Tape::inference();
  testing::expect_error(ErrorKind::kUsage, {"needs a process group"}, [&] {
    aggregate(tape, part.graph, {Aggregator::kAdd}, SelfLoops::kNone, x);
  });
}

}  // namespace
}  // namespace egc::ops
