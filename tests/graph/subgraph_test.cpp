// Parts of graphs: what is left is what was there, and as much of it as was asked for.
#include "egc/graph/subgraph.h"

#include <gtest/gtest.h>

#include <set>

#include "egc/graph/topologies.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using testing::expect_error;
using Ids = std::vector<int64_t>;
using Edge = std::pair<int64_t, int64_t>;

std::multiset<Edge> edges_of(const Csr& graph, std::span<const int64_t> names) {
  std::multiset<Edge> out;
  const auto offsets = graph.offsets();
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = offsets[i]; e < offsets[i + 1]; ++e)
      out.emplace(names[graph.sources()[e]], names[i]);
  return out;
}

Ids first_ids(int64_t count) {
  Ids out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int64_t>(i);
  return out;
}

TEST(Subgraph, DropsTheShareOfEdgesThatWasAskedFor) {
  const Csr graph = make_topology("arxiv-like", 0, 0.02);
  const Ids all = first_ids(graph.num_targets());
  const auto before = edges_of(graph, all);
  for (const double p : {0.0, 0.1, 0.5, 0.9}) {
    Rng rng(3);
    const Csr less = drop_edges(graph, p, rng);
    EXPECT_EQ(less.num_targets(), graph.num_targets());
    const auto edges = static_cast<double>(graph.num_edges());
    EXPECT_NEAR(static_cast<double>(less.num_edges()), (1 - p) * edges, 0.02 * edges);
    const auto after = edges_of(less, all);
    EXPECT_TRUE(std::includes(before.begin(), before.end(), after.begin(), after.end()));
  }
}

TEST(Subgraph, WeightsStayWithTheirEdges) {
  const Csr graph = Csr::from_edges(3, Ids{0, 1, 2, 2}, Ids{1, 2, 0, 1},
                                    std::vector<float>{0.1F, 1.2F, 2.0F, 2.1F});
  const Csr part = induced_subgraph(graph, Ids{1, 2});
  ASSERT_EQ(part.num_edges(), 2);
  EXPECT_EQ(part.weights()[0], 2.1F);  // 2 -> 1
  EXPECT_EQ(part.weights()[1], 1.2F);  // 1 -> 2
  Rng rng(0);
  for (int k = 0; k < 20; ++k) {
    const Csr less = drop_edges(graph, 0.5, rng);
    ASSERT_EQ(less.weights().size(), less.sources().size());
    const auto offsets = less.offsets();
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t e = offsets[i]; e < offsets[i + 1]; ++e)
        EXPECT_FLOAT_EQ(less.weights()[e],
                        static_cast<float>(less.sources()[e]) + 0.1F * static_cast<float>(i));
  }
}

TEST(Subgraph, TheEdgesAmongTheNodesThatStay) {
  const Csr graph = make_topology("arxiv-like", 0, 0.005);
  Rng rng(1);
  const Ids bounds = {0, graph.num_targets()};
  const Ids kept = sample_nodes(bounds, 0.3, rng);
  const auto nodes = static_cast<double>(graph.num_targets());
  EXPECT_NEAR(static_cast<double>(kept.size()), 0.7 * nodes, 0.06 * nodes);
  const std::set<int64_t> stays(kept.begin(), kept.end());
  std::multiset<Edge> expected;
  for (const Edge& e : edges_of(graph, first_ids(graph.num_targets())))
    if (stays.contains(e.first) && stays.contains(e.second)) expected.insert(e);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(edges_of(induced_subgraph(graph, kept), kept), expected);
}

TEST(Subgraph, EveryGraphKeepsANode) {
  Rng rng(2);
  for (int k = 0; k < 50; ++k) {
    const Ids kept = sample_nodes(Ids{0, 1, 1, 3, 6}, 0.99, rng);
    int graphs[3] = {};
    for (const int64_t i : kept) ++graphs[i < 1 ? 0 : i < 3 ? 1 : 2];
    for (const int count : graphs) EXPECT_GE(count, 1);
  }
}

TEST(Subgraph, NodesThatStayRise) {
  const Csr graph = Csr::from_edges(3, Ids{0}, Ids{1});
  expect_error(ErrorKind::kUsage, {"must be ascending"}, [&] {
    induced_subgraph(graph, Ids{1, 1});
  });
  expect_error(ErrorKind::kUsage, {"at most 2"}, [&] { induced_subgraph(graph, Ids{0, 3}); });
  const Csr wide = Csr::from_edges(2, 3, Ids{2}, Ids{1});
  expect_error(ErrorKind::kUsage, {"3 other sources"}, [&] { induced_subgraph(wide, Ids{0}); });
}

}  // namespace
}  // namespace egc
