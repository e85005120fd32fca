// Generated graphs: the promised sizes and shapes, the same for a seed whatever the threads.
#include "egc/graph/topologies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"

namespace egc {
namespace {

using testing::expect_error;
using testing::ThreadCount;

struct Small {
  const char* name;
  double scale;
};
constexpr Small kSmall[] = {{"arxiv-like", 0.1},   {"zinc-batch", 0.02},    {"code-batch", 0.01},
                            {"reddit-like", 0.01}, {"zinc-minibatch", 1.0}, {"zinc-single", 1.0}};

bool same(const Csr& a, const Csr& b) {
  return std::ranges::equal(a.offsets(), b.offsets()) &&
         std::ranges::equal(a.sources(), b.sources());
}

int64_t in_degree(const Csr& graph, int64_t node) {
  return graph.offsets()[node + 1] - graph.offsets()[node];
}

int64_t count_components(const Csr& graph) {
  std::vector<int64_t> parent(graph.num_targets());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int64_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  int64_t components = graph.num_targets();
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      const int64_t a = root(i);
      const int64_t b = root(graph.sources()[e]);
      if (a != b) --components;
      parent[a] = b;
    }
  return components;
}

TEST(Topologies, TheTableOfThisTestIsComplete) {
  std::vector<std::string> names;
  for (const Small& small : kSmall) names.emplace_back(small.name);
  EXPECT_EQ(topology_names(), names);
}

TEST(Topologies, SeedDecidesTheGraph) {
  for (const auto& [name, scale] : kSmall) {
    EXPECT_TRUE(same(make_topology(name, 5, scale), make_topology(name, 5, scale))) << name;
    EXPECT_FALSE(same(make_topology(name, 5, scale), make_topology(name, 6, scale))) << name;
  }
}

TEST(Topologies, ThreadsDoNotMatter) {
  for (const auto& [name, scale] : kSmall) {
    const ThreadCount one(1);
    const Csr want = make_topology(name, 1, scale);
    for (const int threads : {2, 3, 8}) {
      const ThreadCount scope(threads);
      EXPECT_TRUE(same(make_topology(name, 1, scale), want)) << name << ' ' << threads;
    }
  }
}

TEST(Topologies, AreUndirectedWithoutLoopsAndWeights) {
  for (const auto& [name, scale] : kSmall) {
    const Csr graph = make_topology(name, 2, scale);
    EXPECT_TRUE(graph.is_square()) << name;
    EXPECT_EQ(&graph.transposed(), &graph) << name;
    EXPECT_FALSE(graph.has_loops()) << name;
    EXPECT_TRUE(graph.weights().empty()) << name;
  }
}

TEST(Topologies, PowerLawsHaveTheScaledSizes) {
  const Csr arxiv = make_topology("arxiv-like", 0, 0.1);
  EXPECT_EQ(arxiv.num_targets(), 16'934);
  EXPECT_EQ(arxiv.num_edges(), 231'560);
  const Csr reddit = make_topology("reddit-like", 0, 0.01);
  EXPECT_EQ(reddit.num_targets(), 580);
  EXPECT_EQ(reddit.num_edges(), 280'000);
}

TEST(Topologies, FullArxivHasThePapersSize) {
  const Csr graph = make_topology("arxiv-like");
  EXPECT_EQ(graph.num_targets(), 169'343);
  EXPECT_EQ(graph.num_edges(), 2'315'598);
}

TEST(Topologies, BatchesHaveTheScaledNumberOfGraphs) {
  EXPECT_EQ(count_components(make_topology("zinc-batch", 0, 0.02)), 200);
  EXPECT_EQ(count_components(make_topology("code-batch", 0, 0.01)), 100);
  EXPECT_EQ(count_components(make_topology("zinc-minibatch")), 64);
  EXPECT_EQ(count_components(make_topology("zinc-single")), 1);
}

TEST(Topologies, UnknownNameListsTheKnown) {
  expect_error(ErrorKind::kUsage,
               {"unknown topology \"arxiv\"", fmt::format("{}", fmt::join(topology_names(), ", "))},
               [] { make_topology("arxiv"); });
}

TEST(Topologies, ScaleIsChecked) {
  for (const double scale : {0.0, -0.5, 1.0001, double{NAN}, double{INFINITY}})
    expect_error(ErrorKind::kUsage, {"scale", "(0, 1]"},
                 [=] { make_topology("zinc-minibatch", 0, scale); });
}

TEST(Topologies, TinyScalesHaveNoLoopsEither) {
  for (const std::string& name : topology_names())
    for (const double scale : {1e-12, 1e-5, 3e-5})
      EXPECT_FALSE(make_topology(name, 0, scale).has_loops()) << name << ' ' << scale;
}

TEST(PowerLawGraph, HasHubsWithShuffledIds) {
  constexpr int64_t kNodes = 10'000;
  const Csr graph = power_law_graph(kNodes, 100'000, 0.6, 3);
  int64_t hub = 0;
  for (int64_t i = 1; i < kNodes; ++i)
    if (in_degree(graph, i) > in_degree(graph, hub)) hub = i;
  EXPECT_GT(in_degree(graph, hub), 50);      // the mean is 10
  EXPECT_LT(in_degree(graph, hub), 10'000);  // a few percent of the edges at most
  EXPECT_GT(hub, 10);                        // unshuffled, the hubs would be the first ids
}

TEST(PowerLawGraph, TwoNodesStillAvoidLoops) {
  const Csr graph = power_law_graph(2, 1000, 0.6, 3);
  EXPECT_EQ(graph.num_edges(), 1000);
  EXPECT_FALSE(graph.has_loops());
}

TEST(PowerLawGraph, OddEdgeHasNoInverseAndIsDropped) {
  EXPECT_EQ(power_law_graph(10, 7, 0.6, 3).num_edges(), 6);
}

TEST(MoleculeBatch, HasTheMeanSizeOfZinc) {
  constexpr int64_t kGraphs = 2000;
  const Csr graph = molecule_batch(kGraphs, 4);
  EXPECT_NEAR(static_cast<double>(graph.num_targets()) / kGraphs, 23.0, 0.5);
  EXPECT_NEAR(static_cast<double>(graph.num_edges()) / kGraphs, 50.0, 1.5);
  EXPECT_EQ(count_components(graph), kGraphs);
}

TEST(TreeBatch, IsAForestOfTheMeanSize) {
  constexpr int64_t kGraphs = 500;
  const Csr graph = tree_batch(kGraphs, 4);
  EXPECT_NEAR(static_cast<double>(graph.num_targets()) / kGraphs, 125.0, 8.0);
  EXPECT_EQ(graph.num_edges(), 2 * (graph.num_targets() - kGraphs));
  EXPECT_EQ(count_components(graph), kGraphs);
}

TEST(Batches, OfNoGraphsAreEmpty) {
  EXPECT_EQ(molecule_batch(0, 1).num_targets(), 0);
  EXPECT_EQ(tree_batch(0, 1).num_targets(), 0);
}

}  // namespace
}  // namespace egc
