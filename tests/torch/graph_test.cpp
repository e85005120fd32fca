// Graphs from tensors.
#include "egc/torch/graph.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"
#include "tests/kernels/random_problem.h"
#include "tests/torch/tensors.h"

namespace egc {
namespace {

using testing::awkward_graph;
using testing::expect_error;

at::Tensor edge_index_of(const Csr& graph) {
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      source.push_back(graph.sources()[e]);
      target.push_back(i);
    }
  return at::stack({at::tensor(source), at::tensor(target)});
}

at::Tensor weights_of(const Csr& graph) {
  return at::tensor(std::vector<float>(graph.weights().begin(), graph.weights().end()));
}

void expect_same(const Csr& a, const Csr& b) {
  EXPECT_TRUE(
      std::equal(a.offsets().begin(), a.offsets().end(), b.offsets().begin(), b.offsets().end()));
  EXPECT_TRUE(
      std::equal(a.sources().begin(), a.sources().end(), b.sources().begin(), b.sources().end()));
  EXPECT_TRUE(
      std::equal(a.weights().begin(), a.weights().end(), b.weights().begin(), b.weights().end()));
}

TEST(TorchGraph, FromTensors) {
  for (const bool weighted : {false, true}) {
    const Csr graph = awkward_graph(weighted);
    const at::Tensor weights = weighted ? weights_of(graph) : at::Tensor();
    const at::Tensor edges = edge_index_of(graph);
    expect_same(torch::graph_from_edge_index(edges, 14, weights), graph);
    // Any strides, and weights of any type.
    expect_same(torch::graph_from_edge_index(edges.t().contiguous().t(), 14,
                                             weighted ? weights.to(at::kDouble) : weights),
                graph);
    const at::Tensor offsets =
        at::tensor(std::vector<int64_t>(graph.offsets().begin(), graph.offsets().end()), at::kLong);
    for (const at::ScalarType type : {at::kLong, at::kInt})
      expect_same(torch::graph_from_csr(offsets, edges[0].to(type), weights), graph);
  }
  const Csr empty = torch::graph_from_edge_index(at::empty({2, 0}, at::kLong), 0);
  EXPECT_EQ(empty.num_edges(), 0);
}

TEST(TorchGraph, BadTensorsAreNamed) {
  const at::Tensor edges = edge_index_of(awkward_graph());
  const auto refused = [](std::initializer_list<std::string> words, const auto& f) {
    expect_error(ErrorKind::kUsage, words, f);
  };
  refused({"int64 [2, E]", "Float"},
          [&] { torch::graph_from_edge_index(edges.to(at::kFloat), 14); });
  refused({"int64 [2, E]"}, [&] { torch::graph_from_edge_index(edges.t(), 14); });
  refused({"edge weights", "2"}, [&] { torch::graph_from_edge_index(edges, 14, at::ones({2})); });
  refused({"constants"}, [&] {
    torch::graph_from_edge_index(edges, 14, at::ones({edges.size(1)}).requires_grad_());
  });
  EXPECT_THROW(torch::graph_from_edge_index(edges, 13), Error);
  EXPECT_THROW(torch::graph_from_edge_index(edges - 2, 14), Error);
  refused({"from 0 to 0"}, [] {
    torch::graph_from_csr(at::tensor({0, 1}), at::tensor({int64_t{1} << 32}));
  });
}

}  // namespace
}  // namespace egc
