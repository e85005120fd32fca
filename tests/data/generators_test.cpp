// Generated datasets: a seed decides every bit, statistics are those of the definitions, targets
// are those that a naive implementation computes again, and what is written reads back.
#include "egc/data/generate/generators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "egc/core/parallel.h"
#include "egc/data/build/target_type.h"
#include "egc/data/raw/read_dataset.h"
#include "egc/data/raw/write_dataset.h"
#include "egc/data/summary.h"
#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using testing::DatasetFiles;
using testing::difference;
using testing::expect_error;
using testing::to_vector;

std::vector<std::string> generator_names() {
  std::vector<std::string> out;
  for (const Generator& g : generators()) out.emplace_back(g.name);
  return out;
}

// Small, yet with something in every part.
double small(const std::string& name) {
  return name == "academic" ? 0.1 : name == "arxiv-like" || name == "reddit-like" ? 0.002 : 0.005;
}

class EveryGenerator : public ::testing::TestWithParam<std::string> {
 protected:
  Dataset make(uint64_t seed) const {
    return generate(GetParam(), {.seed = seed, .size = small(GetParam())});
  }
};
INSTANTIATE_TEST_SUITE_P(All, EveryGenerator, ::testing::ValuesIn(generator_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryGenerator, SeedDecidesEverything) {
  const Dataset first = make(3);
  EXPECT_EQ(difference(first, make(3)), "");
  EXPECT_NE(difference(first, make(4)), "");
  const int threads = num_threads();
  set_num_threads(1);
  const Dataset alone = make(3);
  set_num_threads(threads);
  EXPECT_EQ(difference(first, alone), "");
}

TEST_P(EveryGenerator, IsAWholeDataset) {
  const Dataset d = make(5);
  check_dataset(d, GetParam());
  EXPECT_EQ(d.info.name, GetParam());
  ASSERT_EQ(d.splits.size(), 1U);
  const Split& s = d.splits[0];
  std::set<int64_t> all;
  for (const auto* part : {&s.train, &s.valid, &s.test}) {
    EXPECT_FALSE(part->empty());
    all.insert(part->begin(), part->end());
  }
  EXPECT_EQ(static_cast<int64_t>(all.size()), d.num_items());
}

TEST(Functions, AreSyntaxTreesInDepthFirstOrder) {
  const Dataset d = generate("functions", {.seed = 2, .size = 0.05});
  const double mean = static_cast<double>(d.num_nodes()) / static_cast<double>(d.num_graphs());
  EXPECT_GT(mean, 110);
  EXPECT_LT(mean, 140);
  const auto& features = d.node_features.categories;
  std::set<std::string> verbs;
  for (int64_t g = 0; g < d.num_graphs(); ++g) {
    const int64_t first = d.first_node[g];
    const int64_t nodes = d.first_node[g + 1] - first;
    ASSERT_EQ(d.first_edge[g + 1] - d.first_edge[g], nodes - 1);
    std::vector<int64_t> path = {0};
    for (int64_t i = 1; i < nodes; ++i) {
      const int64_t edge = d.first_edge[g] + i - 1;
      ASSERT_EQ(d.edges.at(edge, 1), i);
      while (!path.empty() && path.back() != d.edges.at(edge, 0)) path.pop_back();
      ASSERT_FALSE(path.empty()) << "the parent of " << i << " is not above the node before it";
      EXPECT_EQ(features.at(first + i, 2), std::min<int64_t>(std::ssize(path), kAstDepths - 1));
      path.push_back(i);
    }
    for (int64_t i = first; i < first + nodes; ++i)
      EXPECT_EQ(d.node_is_attributed[i] != 0, features.at(i, 1) != 10029);
    const std::string name(d.labels.tokens[g]);
    const auto blanks = std::count(name.begin(), name.end(), ' ');
    EXPECT_TRUE(blanks == 1 || blanks == 2) << name;
    verbs.insert(name.substr(0, name.find(' ')));
  }
  EXPECT_EQ(verbs.size(), 16U);
}

std::map<std::string, std::string> contents(const fs::path& dir, const DatasetFiles& files) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(dir))
    if (entry.is_regular_file())
      out[entry.path().lexically_relative(dir).string()] =
          files.read(entry.path().lexically_relative(files.dir()).string());
  return out;
}

TEST_P(EveryGenerator, WritesTheSameBytesTwiceAndReadsBack) {
  const DatasetFiles files;
  const Dataset d = make(7);
  write_dataset(d, files.path("first"));
  write_dataset(d, files.path("second/"));
  const auto first = contents(files.path("first"), files);
  EXPECT_GE(first.size(), 6U);
  EXPECT_EQ(first, contents(files.path("second"), files));
  EXPECT_EQ(difference(d, read_dataset(files.path("first"), {.cache = false})), "");
  EXPECT_EQ(difference(d, read_dataset(files.path("first"))), "");  // writes a cache
  EXPECT_EQ(difference(d, read_dataset(files.path("first"))), "");  // and reads it
}

TEST(Generators, AHundredthHasAHundredthOfTheDefinition) {
  struct Sizes {
    const char* name;
    int64_t train, valid, test;
  };
  for (const Sizes& want : {Sizes{"pattern", 10000, 2000, 2000},
                            {"cluster", 10000, 1000, 1000},
                            {"graph-props", 5120, 640, 1280},
                            {"molecules", 10000, 1000, 1000}}) {
    const Dataset d = generate(want.name, {.seed = 0, .size = 0.01});
    EXPECT_EQ(d.splits[0].train.size(), want.train / 100 + (want.train % 100 >= 50)) << want.name;
    EXPECT_EQ(d.splits[0].valid.size(), want.valid / 100 + (want.valid % 100 >= 50)) << want.name;
    EXPECT_EQ(d.splits[0].test.size(), want.test / 100 + (want.test % 100 >= 50)) << want.name;
  }
}

TEST(Generators, WrongCallsAreRefused) {
  expect_error(ErrorKind::kUsage, {"mars", "known: pattern, cluster"},
               [] { generate("mars", {}); });
  for (const double size : {0.0, -1.0, 1.001, std::nan(""), HUGE_VAL})
    expect_error(ErrorKind::kUsage, {"(0, 1]"}, [&] { generate("molecules", {0, size}); });
  EXPECT_FALSE(is_generator("mars"));
  EXPECT_TRUE(is_generator("pattern"));
}

// Expected means: 118.9 nodes and 3,039 edges a graph (PATTERN), 117.2 and 2,151 (CLUSTER). PATTERN
// has only 100 patterns, so its nodes may be off by 4; CLUSTER's by five standard errors; edges by
// 5 %.
struct Blocks {
  const char* name;
  double nodes, edges;  // per graph, undirected
  int64_t least, most;
};

TEST(Generators, BlockModelsHaveThePublishedStatistics) {
  for (const Blocks& want : {Blocks{"pattern", 118.9, 3039.3, 6 * 5, 6 * 34},
                             {"cluster", 117.2, 2151.0, 6 * 5, 6 * 34}}) {
    const Dataset d = generate(want.name, {.seed = 1, .size = 0.1});
    const Summary s = summarize(d);
    const double graphs = static_cast<double>(s.graphs);
    // Sizes of communities are uniform in 5..34: deviation 8.66 each.
    const double error = std::sqrt(6) * 8.66 / std::sqrt(graphs);
    EXPECT_NEAR(s.graph_nodes.mean, want.nodes,
                want.name == std::string("pattern") ? 4 : 5 * error);
    EXPECT_NEAR(s.graph_edges.mean / want.edges, 1, 0.05) << want.name;
    EXPECT_GE(s.graph_nodes.min, want.least);
    EXPECT_LE(s.graph_nodes.max, want.most);
    for (int64_t k = 0; k < d.num_graphs(); ++k) {  // every edge once, no loop
      const Sample g = d.sample(k);
      std::set<std::pair<int32_t, int32_t>> seen;
      for (int64_t e = 0; e < g.num_edges(); ++e)
        ASSERT_TRUE(g.edges[2 * e] != g.edges[2 * e + 1] &&
                    seen.insert(std::minmax(g.edges[2 * e], g.edges[2 * e + 1])).second);
    }
  }
}

// Shares of joined pairs, against the probabilities of the definitions.
TEST(Generators, BlockModelsHaveTheirProbabilities) {
  const Dataset pattern = generate("pattern", {.seed = 2, .size = 0.05});
  const Dataset cluster = generate("cluster", {.seed = 2, .size = 0.05});
  double pairs[2][3] = {};  // pattern: both outside, mixed, both inside; cluster: same, other
  double joined[2][3] = {};
  for (int which = 0; which < 2; ++which) {
    const Dataset& d = which == 0 ? pattern : cluster;
    for (int64_t k = 0; k < d.num_graphs(); ++k) {
      const Sample g = d.sample(k);
      const auto kind = [&](int32_t a, int32_t b) {
        const int32_t x = d.labels.classes[g.first_node + a];
        const int32_t y = d.labels.classes[g.first_node + b];
        return which == 0 ? x + y : x == y ? 0 : 1;
      };
      for (int32_t a = 0; a < g.num_nodes; ++a)
        for (int32_t b = a + 1; b < g.num_nodes; ++b) ++pairs[which][kind(a, b)];
      for (int64_t e = 0; e < g.num_edges(); ++e)
        ++joined[which][kind(g.edges[2 * e], g.edges[2 * e + 1])];
    }
  }
  EXPECT_NEAR(joined[0][1] / pairs[0][1], 0.5, 0.01);
  EXPECT_NEAR(joined[0][2] / pairs[0][2], 0.5, 0.02);
  EXPECT_NEAR(joined[0][0] / pairs[0][0], 0.35 + 0.15 * 0.235, 0.01);  // 23.5 % in one community
  EXPECT_NEAR(joined[1][0] / pairs[1][0], 0.55, 0.01);
  EXPECT_NEAR(joined[1][1] / pairs[1][1], 0.25, 0.01);
}

TEST(Generators, PatternsRecurWithTheirSignal) {
  const Dataset d = generate("pattern", {.seed = 3, .size = 0.05});
  double inside = 0;
  std::map<int32_t, int64_t> signals;
  std::set<std::vector<int32_t>> patterns;  // sizes and signals, sorted: nodes are shuffled
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    const Sample g = d.sample(k);
    std::vector<int32_t> signal;
    for (int64_t i = g.first_node; i < g.first_node + g.num_nodes; ++i) {
      ++signals[d.node_features.categories.at(i, 0)];
      if (d.labels.classes[i] == 1) signal.push_back(d.node_features.categories.at(i, 0));
    }
    EXPECT_GE(signal.size(), 5U);
    EXPECT_LE(signal.size(), 34U);
    std::sort(signal.begin(), signal.end());
    inside += static_cast<double>(signal.size());
    patterns.insert(signal);
  }
  EXPECT_LE(patterns.size(), 100U);
  EXPECT_GE(patterns.size(), 80U);  // some agree by chance
  EXPECT_NEAR(inside / static_cast<double>(d.num_nodes()), 1 / 6.0, 0.02);
  ASSERT_EQ(signals.size(), 3U);
  for (const auto& [signal, count] : signals)
    EXPECT_NEAR(static_cast<double>(count) / static_cast<double>(d.num_nodes()), 1 / 3.0, 0.02);
}

TEST(Generators, ClusterMarksOneNodeOfEachCommunity) {
  const Dataset d = generate("cluster", {.seed = 3, .size = 0.01});
  bool shuffled = false;
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    const Sample g = d.sample(k);
    std::map<int32_t, int32_t> marked;
    for (int64_t i = g.first_node; i < g.first_node + g.num_nodes; ++i) {
      const int32_t signal = d.node_features.categories.at(i, 0);
      if (signal > 0) {
        EXPECT_TRUE(marked.emplace(signal, d.labels.classes[i]).second);
      }
      shuffled |= i > g.first_node && d.labels.classes[i] < d.labels.classes[i - 1];
    }
    EXPECT_EQ(marked, (std::map<int32_t, int32_t>{{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}, {6, 5}}));
  }
  EXPECT_TRUE(shuffled);
}

// One graph's targets by Floyd and Warshall, by the definition of the Laplacian, and by the power
// method on A + n I, whose largest eigenvalue is that of A plus n.
struct Properties {
  std::vector<double> distance, eccentricity, laplacian;
  double connected = 1, diameter = 0, radius = 0;
};

Properties naive_properties(const Dataset& d, int64_t k) {
  const Sample g = d.sample(k);
  const auto n = static_cast<size_t>(g.num_nodes);
  constexpr double kFar = 1e9;
  std::vector<std::vector<double>> a(n, std::vector<double>(n, 0));
  for (int64_t e = 0; e < g.num_edges(); ++e)
    a[g.edges[2 * e]][g.edges[2 * e + 1]] = a[g.edges[2 * e + 1]][g.edges[2 * e]] = 1;
  auto steps = a;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) steps[i][j] = i == j ? 0 : a[i][j] > 0 ? 1 : kFar;
  for (size_t m = 0; m < n; ++m)
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) steps[i][j] = std::min(steps[i][j], steps[i][m] + steps[m][j]);
  Properties p;
  const auto x = [&](size_t i, int64_t c) {
    return double{d.node_features.floats.at(g.first_node + static_cast<int64_t>(i), c)};
  };
  size_t source = n;
  for (size_t i = 0; i < n; ++i)
    if (x(i, 0) == 1) source = i;
  for (size_t i = 0; i < n; ++i) {
    double far = 0;
    double laplacian = 0;
    for (size_t j = 0; j < n; ++j) {
      if (steps[i][j] < kFar) far = std::max(far, steps[i][j]);
      if (steps[i][j] >= kFar) p.connected = 0;
      laplacian += a[i][j] * (x(i, 1) - x(j, 1));
    }
    p.distance.push_back(steps.at(source)[i] < kFar ? steps[source][i] : 0);
    p.eccentricity.push_back(far);
    p.laplacian.push_back(laplacian);
    p.diameter = std::max(p.diameter, far);
  }
  std::vector<double> v(n, 1);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<double> next(n);
    double norm = 0;
    for (size_t i = 0; i < n; ++i) {
      next[i] = static_cast<double>(n) * v[i];
      for (size_t j = 0; j < n; ++j) next[i] += a[i][j] * v[j];
      norm = std::max(norm, std::abs(next[i]));
    }
    for (size_t i = 0; i < n; ++i) v[i] = next[i] / norm;
    p.radius = norm - static_cast<double>(n);
  }
  return p;
}

TEST(Generators, GraphPropertiesAreThoseOfANaiveProgram) {
  const Dataset d = generate("graph-props", {.seed = 4, .size = 0.01});
  const int64_t train = d.splits[0].train.size();
  std::vector<Properties> all;
  double scale[6] = {};  // of the training part: every target is divided by its largest
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    all.push_back(naive_properties(d, k));
    const Properties& p = all.back();
    if (k >= train) continue;
    const std::vector<double>* of_nodes[] = {&p.distance, &p.eccentricity, &p.laplacian};
    for (int c = 0; c < 3; ++c)
      for (const double v : *of_nodes[c]) scale[c] = std::max(scale[c], std::abs(v));
    scale[3] = std::max(scale[3], p.connected);
    scale[4] = std::max(scale[4], p.diameter);
    scale[5] = std::max(scale[5], p.radius);
  }
  int connected = 0;
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    const Properties& p = all[static_cast<size_t>(k)];
    const Sample g = d.sample(k);
    EXPECT_GE(g.num_nodes, 15);
    EXPECT_LE(g.num_nodes, 24);
    const auto want = {p.connected / scale[3], p.diameter / scale[4], p.radius / scale[5]};
    int c = 0;
    for (const double v : want) EXPECT_NEAR(d.labels.values.at(k, c++), v, 1e-4) << "graph " << k;
    for (int64_t i = 0; i < g.num_nodes; ++i) {
      const auto got = d.node_targets.row(g.first_node + i);
      EXPECT_NEAR(got[0], p.distance[i] / scale[0], 1e-5) << "graph " << k;
      EXPECT_NEAR(got[1], p.eccentricity[i] / scale[1], 1e-5) << "graph " << k;
      EXPECT_NEAR(got[2], p.laplacian[i] / scale[2], 1e-5) << "graph " << k;
    }
    connected += p.connected > 0 ? 1 : 0;
  }
  EXPECT_GT(connected, 5);  // both kinds are there
  EXPECT_LT(connected, d.num_graphs() - 5);
}

TEST(Generators, MoleculesKeepTheirValencesAndScale) {
  const Dataset d = generate("molecules", {.seed = 5, .size = 0.05});
  const int valence[] = {4, 2, 3, 1, 2, 1};
  std::vector<int64_t> used(static_cast<size_t>(d.num_nodes()), 0);
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    const Sample g = d.sample(k);
    EXPECT_GE(g.num_edges(), g.num_nodes - 1);
    EXPECT_LE(g.num_nodes, 37);
    for (int64_t e = 0; e < g.num_edges(); ++e)
      for (const int end : {0, 1})
        used[g.first_node + g.edges[2 * e + end]] +=
            d.edge_features.categories.at(g.first_edge + e, 0);
  }
  for (int64_t i = 0; i < d.num_nodes(); ++i)
    ASSERT_LE(used[i], valence[d.node_features.categories.at(i, 0)]) << "atom " << i;
  const Summary s = summarize(d);
  EXPECT_NEAR(s.parts[0].mean, 0, 1e-5);
  EXPECT_NEAR(s.parts[0].std, 1, 1e-5);
}

TEST(Generators, TheLabelledNodesOfATypedGraphAreAGraph) {
  const Dataset all = generate("academic", {.seed = 1, .size = 0.1});
  const Dataset papers = only_target_type(all);
  check_dataset(papers, "papers");
  EXPECT_EQ(papers.info.task, Task::kNodeClassification);
  EXPECT_EQ(papers.num_nodes(), all.hetero.num_nodes[static_cast<size_t>(all.hetero.target_type)]);
  int64_t edges = 0;
  for (size_t r = 0; r < all.hetero.edges.size(); ++r)
    if (all.hetero.schema.relations[r].source == all.hetero.target_type &&
        all.hetero.schema.relations[r].target == all.hetero.target_type)
      edges += all.hetero.edges[r].rows();
  EXPECT_GT(edges, 0);
  EXPECT_EQ(papers.num_edges(), edges);
  EXPECT_EQ(papers.labels.classes.size(), papers.num_nodes());
  EXPECT_THROW(only_target_type(papers), Error);
}

TEST(WriteDataset, LeavesNothingBehindOnFailure) {
  const DatasetFiles files;
  const auto listing = [&] {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(files.dir()))
      out.push_back(entry.path().filename().string());
    return out;
  };
  const auto half = [](const fs::path& to) {
    std::ofstream(to / "half") << "x";
    fail(ErrorKind::kData, "no more");
  };
  expect_error(ErrorKind::kData, {"no more"},
               [&] { create_directory_whole(files.path("new"), half); });
  EXPECT_TRUE(listing().empty());
  EXPECT_THROW(create_directory_whole(files.path("new"), [](const fs::path&) { throw 1; }), int);
  EXPECT_TRUE(listing().empty());
  expect_error(ErrorKind::kSystem, {"new"}, [&] {
    create_directory_whole(files.path("new"), [](const fs::path& to) {
      fs::create_directories(to / "a");
      fs::rename(to / "none", to / "a" / "b");
    });
  });
  EXPECT_TRUE(listing().empty());
  expect_error(ErrorKind::kSystem, {"/proc"},
               [&] { create_directory_whole("/proc/egc_test", [](const fs::path&) {}); });
}

TEST(WriteDataset, RefusesWhatIsThere) {
  const DatasetFiles files;
  files.write("full/mine", "x");
  files.write("file", "y");
  bool called = false;
  const auto fill = [&](const fs::path&) { called = true; };
  for (const char* name : {"full", "full/", "file"})
    expect_error(ErrorKind::kUsage, {name, "not empty"},
                 [&] { create_directory_whole(files.path(name), fill); });
  EXPECT_FALSE(called);
  EXPECT_EQ(files.read("full/mine") + files.read("file"), "xy");
  files.make_directory("empty");
  create_directory_whole(files.path("empty"), [](const fs::path& to) {
    EXPECT_NE(to.filename(), "empty");
    std::ofstream(to / "in") << "z";
  });
  EXPECT_EQ(files.read("empty/in"), "z");
}

}  // namespace
}  // namespace egc::data
