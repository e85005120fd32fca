// Encodings of nodes: those of the definition, computed the slow way, for graphs of every kind.
#include "egc/graph/node_encodings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "egc/core/rng.h"
#include "egc/core/symmetric_spectrum.h"
#include "egc/graph/topologies.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"

namespace egc {
namespace {

using testing::expect_error;
using testing::ThreadCount;
using Ids = std::vector<int64_t>;
using Dense = std::vector<double>;  // [n, n]

// A graph with its name in messages.
struct Example {
  const char* name;
  Csr graph;
};

Csr random_graph(int64_t nodes, int64_t edges, uint64_t seed, bool symmetric, bool weighted) {
  Rng rng(seed);
  Ids source;
  Ids target;
  std::vector<float> weights;
  for (int64_t e = 0; e < edges; ++e) {
    source.push_back(rng.below(static_cast<uint32_t>(nodes)));
    target.push_back(rng.below(static_cast<uint32_t>(nodes)));
    if (weighted) weights.push_back(rng.uniform() + 0.1F);
    if (!symmetric) continue;
    source.push_back(target.back());
    target.push_back(source[source.size() - 2]);
    if (weighted) weights.push_back(weights.back());
  }
  return Csr::from_edges(nodes, source, target, weights);
}

std::vector<Example> examples() {
  return {{"no nodes", Csr::from_edges(0, Ids{}, Ids{})},
          {"one node", Csr::from_edges(1, Ids{}, Ids{})},
          {"a loop", Csr::from_edges(1, Ids{0}, Ids{0})},
          {"isolated nodes", Csr::from_edges(4, Ids{}, Ids{})},
          {"a directed edge", Csr::from_edges(2, Ids{0}, Ids{1})},
          {"a directed ring", Csr::from_edges(3, Ids{0, 1, 2}, Ids{1, 2, 0})},
          {"parallel edges", Csr::from_edges(3, Ids{0, 0, 1, 2, 1}, Ids{1, 1, 0, 1, 2})},
          {"two components", Csr::from_edges(5, Ids{0, 1, 3, 2}, Ids{1, 0, 2, 3})},
          {"a path", Csr::from_edges(3, Ids{0, 1, 1, 2}, Ids{1, 0, 2, 1})},
          {"directed", random_graph(30, 80, 1, false, false)},
          {"sparse and directed", random_graph(30, 20, 2, false, false)},
          {"symmetric", random_graph(30, 60, 3, true, false)},
          {"directed and weighted", random_graph(30, 80, 4, false, true)},
          {"symmetric and weighted", random_graph(30, 60, 5, true, true)},
          {"several tasks", random_graph(300, 900, 6, false, false)}};
}

Dense transition(const Csr& graph) {
  const int64_t n = graph.num_targets();
  Dense p(static_cast<size_t>(n * n), 0.0);
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      const double w = graph.weights().empty() ? 1.0 : graph.weights()[e];
      p[i * n + graph.sources()[e]] += w;
      sum += w;
    }
    for (int64_t j = 0; j < n && sum > 0; ++j) p[i * n + j] /= sum;
  }
  return p;
}

TEST(RandomWalk, ReturnsAreDiagonalsOfThePowers) {
  constexpr int64_t kSteps = 7;
  for (const Example& example : examples()) {
    const int64_t n = example.graph.num_targets();
    const Dense p = transition(example.graph);
    Dense power = p;
    const std::vector<double> got = random_walk_returns(example.graph, kSteps);
    ASSERT_EQ(std::ssize(got), n * kSteps) << example.name;
    for (int64_t k = 0; k < kSteps; ++k) {
      for (int64_t i = 0; i < n; ++i)
        ASSERT_NEAR(got[i * kSteps + k], power[i * n + i], 1e-12)
            << example.name << ", node " << i << ", step " << k + 1;
      Dense next(power.size(), 0.0);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          for (int64_t m = 0; m < n; ++m) next[i * n + j] += power[i * n + m] * p[m * n + j];
      power = next;
    }
  }
}

TEST(RandomWalk, OfFewerStepsIsTheBeginning) {
  const Csr graph = random_graph(40, 100, 7, false, false);
  const std::vector<double> all = random_walk_returns(graph, 9);
  for (const int64_t steps : {1, 2, 8}) {
    const std::vector<double> some = random_walk_returns(graph, steps);
    for (int64_t i = 0; i < 40; ++i)
      for (int64_t k = 0; k < steps; ++k) EXPECT_EQ(some[i * steps + k], all[i * 9 + k]);
  }
}

TEST(RandomWalk, WeightsWithoutAPositiveSumEndTheWalk) {
  const Csr graph =
      Csr::from_edges(2, Ids{0, 1, 0}, Ids{0, 0, 1}, std::vector<float>{1.0F, -1.0F, 1.0F});
  for (const double v : random_walk_returns(graph, 4)) EXPECT_EQ(v, 0);
}

TEST(NodeEncodings, SameBitsForAnyNumberOfThreads) {
  const Csr graph = make_topology("arxiv-like", 0, 0.005);
  for (const NodeEncoding& encoding :
       {NodeEncoding{EncodingKind::kRandomWalk, 6}, NodeEncoding{EncodingKind::kDegree, 1}}) {
    std::vector<double> first;
    for (const int threads : {1, 2, 4}) {
      const ThreadCount count(threads);
      const std::vector<double> now = encode_nodes(graph, encoding);
      if (first.empty()) first = now;
      EXPECT_EQ(now, first) << spell(encoding) << ", " << threads << " threads";
    }
  }
}

TEST(NodeEncodings, ProgressEndsWithAllNodes) {
  int64_t last = 0;
  random_walk_returns(make_topology("arxiv-like", 0, 0.005), 2, [&](int64_t done, int64_t total) {
    EXPECT_GT(done, last);
    EXPECT_LE(done, total);
    last = done;
  });
  EXPECT_EQ(last, make_topology("arxiv-like", 0, 0.005).num_targets());
}

TEST(NodeEncodings, DegreesAreLogarithmsOfOneAndTheDegree) {
  const Csr graph = Csr::from_edges(4, Ids{0, 0, 1, 3}, Ids{1, 1, 2, 3});
  const std::vector<double> want = {0, std::log(3.0), std::log(2.0), std::log(2.0)};
  const std::vector<double> got = log_degrees(graph);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-15) << i;
  const Csr weighted =
      Csr::from_edges(2, Ids{0, 1, 1}, Ids{1, 1, 0}, std::vector<float>{0.25F, 0.5F, -2.0F});
  EXPECT_EQ(log_degrees(weighted), (std::vector<double>{0, std::log1p(0.75)}));
}

// The Laplacian by its definition.
Dense laplacian_of(const Csr& graph) {
  const int64_t n = graph.num_targets();
  Dense a(static_cast<size_t>(n * n), 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      if (const int64_t j = graph.sources()[e]; j != i) a[i * n + j] = a[j * n + i] = 1;
  std::vector<double> degree(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    degree[i] = std::accumulate(a.begin() + i * n, a.begin() + (i + 1) * n, 0.0);
  Dense out(a.size(), 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (i == j)
        out[i * n + j] = degree[i] > 0 ? 1 : 0;
      else if (a[i * n + j] > 0)
        out[i * n + j] = -1 / std::sqrt(degree[i] * degree[j]);
  return out;
}

TEST(Laplacian, ColumnsAreTheFirstEigenvectorsThatAreNotConstant) {
  constexpr int64_t kCount = 6;
  for (const Example& example : examples()) {
    SCOPED_TRACE(example.name);
    const int64_t n = example.graph.num_targets();
    const Dense l = laplacian_of(example.graph);
    const std::vector<double> all = symmetric_spectrum(l, n).values;
    const int64_t trivial =
        std::count_if(all.begin(), all.end(), [](double value) { return value < 1e-9; });
    const std::vector<double> v = laplacian_vectors(example.graph, kCount);
    ASSERT_EQ(std::ssize(v), n * kCount);
    const int64_t there = std::min(kCount, n - trivial);
    for (int64_t k = 0; k < kCount; ++k) {
      for (int64_t m = 0; m <= k; ++m) {
        double product = 0;
        for (int64_t i = 0; i < n; ++i) product += v[i * kCount + k] * v[i * kCount + m];
        EXPECT_NEAR(product, k == m && k < there ? 1 : 0, 1e-10) << k << ", " << m;
      }
      if (k >= there) continue;
      for (int64_t i = 0; i < n; ++i) {
        double lv = 0;
        for (int64_t j = 0; j < n; ++j) lv += l[i * n + j] * v[j * kCount + k];
        EXPECT_NEAR(lv, all[trivial + k] * v[i * kCount + k], 1e-10) << "column " << k;
      }
    }
  }
}

TEST(Laplacian, TheFirstOfTheLargestEntriesIsPositive) {
  for (const Example& example : examples()) {
    const int64_t n = example.graph.num_targets();
    const std::vector<double> v = laplacian_vectors(example.graph, 4);
    for (int64_t k = 0; k < 4; ++k) {
      double largest = 0;
      for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(v[i * 4 + k]));
      for (int64_t i = 0; i < n; ++i)
        if (std::abs(v[i * 4 + k]) > largest * (1 - 1e-6)) {
          EXPECT_GE(v[i * 4 + k], 0) << example.name << ", column " << k;
          break;
        }
    }
  }
  // A path of three: (1, 0, -1) and (1, -sqrt 2, 1), whose largest entry is the second.
  const std::vector<double> path =
      laplacian_vectors(Csr::from_edges(3, Ids{0, 1, 1, 2}, Ids{1, 0, 2, 1}), 3);
  const double half = std::sqrt(0.5);
  const std::vector<double> want = {half, -0.5, 0, 0, half, 0, -half, -0.5, 0};
  for (size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(path[k], want[k], 1e-12) << k;
}

TEST(Laplacian, LargeGraphsAreRefused) {
  const Csr large = Csr::from_edges(kMaxLaplacianNodes + 1, Ids{}, Ids{});
  expect_error(ErrorKind::kUsage, {"1000 nodes", "1001"}, [&] { laplacian_vectors(large, 2); });
}

TEST(NodeEncodings, AreParsedAndSpelled) {
  const std::vector<std::string> names = {"rwse:20", "degree", "laplacian:256"};
  const std::vector<NodeEncoding> parsed = parse_encodings(names);
  ASSERT_EQ(parsed.size(), 3U);
  EXPECT_EQ(parsed[0], (NodeEncoding{EncodingKind::kRandomWalk, 20}));
  EXPECT_EQ(parsed[1], (NodeEncoding{EncodingKind::kDegree, 1}));
  EXPECT_EQ(parsed[2], (NodeEncoding{EncodingKind::kLaplacian, 256}));
  EXPECT_EQ(num_columns(parsed), 277);
  for (size_t k = 0; k < names.size(); ++k) EXPECT_EQ(spell(parsed[k]), names[k]);
  EXPECT_TRUE(parse_encodings({}).empty());
}

TEST(NodeEncodings, WrongNamesAreRefused) {
  const auto refuses = [](const std::vector<std::string>& names,
                          std::initializer_list<std::string> parts) {
    expect_error(ErrorKind::kUsage, parts, [&] { parse_encodings(names); });
  };
  refuses({"rwes:20"}, {"unknown encoding \"rwes\"", "did you mean \"rwse\"", "laplacian"});
  refuses({""}, {"unknown encoding \"\"", "degree"});
  for (const std::string wrong :
       {"rwse", "rwse:", "rwse:0", "rwse:-3", "rwse:257", "rwse:2.5", "rwse:2x", "rwse: 2",
        "rwse:99999999999999999999", "laplacian", "laplacian:0", "laplacian:8:8"})
    refuses({wrong}, {"encode takes", ":K", "256", '"' + wrong + '"'});
  refuses({"degree:1"}, {"without a number", "degree:1"});
  refuses({"degree:"}, {"without a number"});
  refuses({"rwse:4", "degree", "rwse:8"}, {"rwse twice", "rwse:4", "rwse:8"});
  refuses({"degree", "degree"}, {"degree twice"});
}

TEST(NodeEncodings, GraphsBetweenTwoSetsAreRefused) {
  const Csr graph = Csr::from_edges(2, 3, Ids{0}, Ids{1});
  for (const char* name : {"rwse:2", "laplacian:2", "degree"})
    expect_error(ErrorKind::kUsage, {"among the same nodes"},
                 [&] { encode_nodes(graph, parse_encodings({name})[0]); });
}

}  // namespace
}  // namespace egc
