// Real datasets, where $EGC_DATA leads to them: every count, split and label statistic is the one
// their publishers give. A dataset that is not there is skipped, and says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "egc/core/error.h"
#include "egc/data/formats/text_blocks.h"
#include "egc/data/raw/read_dataset.h"
#include "egc/data/summary.h"
#include "egc/data/training_edges.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using Counts = std::vector<int64_t>;

std::optional<fs::path> find_shared(const std::string& folder) {
  const char* root = std::getenv("EGC_DATA");
  if (root == nullptr || !fs::is_directory(fs::path(root) / folder / "raw")) return std::nullopt;
  return fs::path(root) / folder;
}

// Nothing is written there: no cache. The last one is kept for the next test of it.
Dataset read_shared(const fs::path& dir) {
  static fs::path last;
  static Dataset dataset;
  if (last != dir) dataset = read_dataset(dir, {.cache = false});
  last = dir;
  return dataset;
}

#define EGC_READ_SHARED(dataset, folder)                                                \
  const auto dataset##_path = find_shared(folder);                                      \
  if (!dataset##_path) GTEST_SKIP() << "$EGC_DATA has no " << (folder) << " with raw/"; \
  const Dataset dataset = read_shared(*dataset##_path)

struct Published {
  const char* folder;
  Task task;
  int64_t graphs;
  int64_t nodes;
  int64_t edges;           // as stored
  int64_t training_edges;  // as networks see them; -1: no public figure
  int64_t features;
  int64_t classes;  // 0: none
  std::array<int64_t, 3> split;
  int64_t min_nodes;
  int64_t max_nodes;
  Counts labels;                // of each class, over everything
  std::array<Counts, 3> parts;  // likewise of the split's parts; empty: no public figure
};

// Graphs, nodes, edges, classes and most split sizes are published (the READMEs beside the data).
// Not published, and so only a check of the reader: counts of each class and smallest and largest
// graphs (counted in the raw files by a Python script), parts of the TU folds (as egc read them).
const Published kPublished[] = {
    {"cifar10_superpixels_jpeg",
     Task::kGraphClassification,
     60000,
     6703609,
     8 * 6703609,
     8 * 6703609,
     5,
     10,
     {45000, 5000, 10000},
     84,
     131,
     {6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000, 6000},
     {{{4500, 4500, 4500, 4500, 4500, 4500, 4500, 4500, 4500, 4500},
       {500, 500, 500, 500, 500, 500, 500, 500, 500, 500},
       {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}}}},
    {"aifb",
     Task::kNodeClassificationHetero,
     1,
     8285,
     29043,
     2 * 29043,
     0,
     4,
     {140, 0, 36},
     8285,
     8285,
     {73, 60, 28, 15},
     {{{58, 48, 22, 12}, {0, 0, 0, 0}, {15, 12, 6, 3}}}},
    {"cora",
     Task::kNodeClassification,
     1,
     2708,
     5278,
     10556,
     1433,
     7,
     {140, 500, 1000},
     2708,
     2708,
     {351, 217, 418, 818, 426, 298, 180},
     {{{20, 20, 20, 20, 20, 20, 20},
       {61, 36, 78, 158, 81, 57, 29},
       {130, 91, 144, 319, 149, 103, 64}}}},
    {"imdb_hetero",
     Task::kNodeClassificationHetero,
     1,
     4278 + 2081 + 5257,
     4278 + 12828,
     2 * (4278 + 12828),
     3066,
     3,
     {400, 400, 3478},
     11616,
     11616,
     {1135, 1584, 1559},
     {}},
    {"ogbg_molhiv",
     Task::kGraphBinary,
     41127,
     1049163,
     1129688,
     2 * 1129688,
     9,
     0,
     {32901, 4113, 4113},
     2,
     222,
     {},
     {}},
    {"ogbn_arxiv",
     Task::kNodeClassification,
     1,
     169343,
     1166243,
     2315598,
     0,
     40,
     {90941, 29799, 48603},
     169343,
     169343,
     {565,   687, 4839,  2080, 5862, 4958, 1618, 589, 6232, 2820, 7869,  750,  29,   2358,
      597,   403, 27321, 515,  749,  2877, 2076, 393, 1903, 2834, 22187, 1257, 4605, 4801,
      21406, 416, 11814, 2828, 411,  1271, 7867, 127, 3524, 2369, 1507,  2029},
     {}},
    {"zinc12k",
     Task::kGraphRegression,
     12000,
     277864,
     298985,
     2 * 298985,
     1,
     0,
     {10000, 1000, 1000},
     9,
     37,
     {},
     {}},
    {"code_ast_standin",
     Task::kGraphSequence,
     31232,
     3624337,
     3593105,
     -1,
     3,
     0,
     {24963, 3068, 3201},
     8,
     1462,
     {},
     {}},
    {"tu/MUTAG",
     Task::kGraphClassification,
     188,
     3371,
     3721,
     7442,
     1,
     2,
     {170, 0, 18},
     10,
     28,
     {63, 125},
     {}},
    {"tu/ENZYMES",
     Task::kGraphClassification,
     600,
     19580,
     37282,
     74564,
     1,
     6,
     {480, 60, 60},
     2,
     126,
     {100, 100, 100, 100, 100, 100},
     {}},
    {"tu/PROTEINS",
     Task::kGraphClassification,
     1113,
     43471,
     81044,
     162088,
     1,
     2,
     {889, 112, 112},
     4,
     620,
     {663, 450},
     {}},
    {"tu/IMDB-BINARY",
     Task::kGraphClassification,
     1000,
     19773,
     96531,
     193062,
     1,
     2,
     {900, 0, 100},
     12,
     136,
     {500, 500},
     {}},
};

void PrintTo(const Published& p, std::ostream* out) { *out << p.folder; }

class SharedData : public ::testing::TestWithParam<Published> {};

TEST_P(SharedData, CountsSplitsAndLabelsAreThePublished) {
  const Published& want = GetParam();
  EGC_READ_SHARED(d, want.folder);
  check_dataset(d, want.folder);
  const Summary s = summarize(d);
  fmt::print("{:<25} {:>6} {:>8} {:>9} {:>9} {:>5} {:>3}  {}/{}/{}\n", want.folder, s.graphs,
             s.nodes, s.edges, s.training_edges, s.features, d.info.num_classes, s.parts[0].items,
             s.parts[1].items, s.parts[2].items);
  EXPECT_EQ(d.info.task, want.task);
  EXPECT_EQ(s.graphs, want.graphs);
  EXPECT_EQ(s.nodes, want.nodes);
  EXPECT_EQ(s.edges, want.edges);
  if (want.training_edges >= 0) {
    EXPECT_EQ(s.training_edges, want.training_edges);
  }
  EXPECT_EQ(s.features, want.features);
  EXPECT_EQ(d.info.num_classes, want.classes);
  EXPECT_EQ(s.graph_nodes.min, want.min_nodes);
  EXPECT_EQ(s.graph_nodes.max, want.max_nodes);
  EXPECT_EQ(s.labels.classes, want.labels);
  ASSERT_FALSE(d.splits.empty());
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(s.parts[p].items, want.split[p]) << "part " << p;
    if (!want.parts[p].empty()) {
      EXPECT_EQ(s.parts[p].classes, want.parts[p]) << "part " << p;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SharedData, ::testing::ValuesIn(kPublished), [](const auto& info) {
  std::string name = info.param.folder;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

TEST(SharedDataDetails, AifbHasItsRelations) {
  EGC_READ_SHARED(d, "aifb");
  EXPECT_EQ(d.hetero.schema.relations.size(), 45U);
  EXPECT_EQ(training_schema(d).relations.size(), 90U);
  EXPECT_EQ(std::count(d.labels.classes.begin(), d.labels.classes.end(), -1), 8285 - 140 - 36);
}

TEST(SharedDataDetails, CoraIsABagOfWords) {
  EGC_READ_SHARED(d, "cora");
  const auto& x = d.node_features.floats.values;
  EXPECT_EQ(std::count(x.begin(), x.end(), 1.F), 49216);
  EXPECT_EQ(std::count(x.begin(), x.end(), 0.F), x.size() - 49216);
}

// MAGNN prints how many pairs of movies share a director, or an actor; a movie with itself counts.
TEST(SharedDataDetails, ImdbHasMagnnsMetapaths) {
  EGC_READ_SHARED(d, "imdb_hetero");
  const HeteroParts& h = d.hetero;
  for (const auto& [relation, between, want] :
       {std::tuple{"directed_by", "director", int64_t{17446}}, {"stars", "actor", 95102}}) {
    const auto is_it = [&](const auto& r) { return r.name == relation; };
    const auto it = std::find_if(h.schema.relations.begin(), h.schema.relations.end(), is_it);
    ASSERT_NE(it, h.schema.relations.end());
    EXPECT_EQ(h.schema.node_types[it->source], "movie");
    EXPECT_EQ(h.schema.node_types[it->target], between);
    Counts movies(static_cast<size_t>(h.num_nodes[it->target]), 0);
    const auto& edges = h.edges[static_cast<size_t>(it - h.schema.relations.begin())];
    for (int64_t e = 0; e < edges.rows(); ++e) ++movies[edges.at(e, 1)];
    int64_t paths = 0;
    for (const int64_t m : movies) paths += m * m;
    EXPECT_EQ(paths, want) << relation;
  }
}

TEST(SharedDataDetails, MolhivHasItsPositives) {
  EGC_READ_SHARED(d, "ogbg_molhiv");
  const Summary s = summarize(d);
  const int64_t positives[] = {1232, 81, 130};
  for (int p = 0; p < 3; ++p)
    EXPECT_EQ(std::llround(s.parts[p].mean * static_cast<double>(s.parts[p].labelled)),
              positives[p]);
  EXPECT_NEAR(s.graph_nodes.mean, 25.51, 0.005);
  EXPECT_NEAR(s.graph_edges.mean, 27.47, 0.005);
  // Public print-outs of the first and the last molecule: directed edges.
  EXPECT_EQ(d.sample(0).num_nodes, 19);
  EXPECT_EQ(2 * d.sample(0).num_edges(), 40);
  EXPECT_EQ(d.sample(41126).num_nodes, 37);
  EXPECT_EQ(2 * d.sample(41126).num_edges(), 80);
}

TEST(SharedDataDetails, ArxivHasItsDegreesAndHomophily) {
  EGC_READ_SHARED(d, "ogbn_arxiv");
  const Csr graph = training_graph(d, 0, EdgeRules::of(d));
  ASSERT_EQ(graph.num_edges(), 2315598);
  int64_t most = 0;
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    most = std::max<int64_t>(most, graph.offsets()[i + 1] - graph.offsets()[i]);
  EXPECT_EQ(most, 13161);
  double alike = 0;
  for (int64_t e = 0; e < d.edges.rows(); ++e)
    alike += d.labels.classes[d.edges.at(e, 0)] == d.labels.classes[d.edges.at(e, 1)] ? 1 : 0;
  EXPECT_NEAR(alike / 1166243, 0.655, 0.0006);
  // An edge of OGB's own list, which the copy must not turn around.
  const auto has = [&](int32_t a, int32_t b) {
    for (int64_t e = 0; e < d.edges.rows(); ++e)
      if (d.edges.at(e, 0) == a && d.edges.at(e, 1) == b) return true;
    return false;
  };
  EXPECT_TRUE(has(104447, 13091));
  EXPECT_FALSE(has(13091, 104447));
}

TEST(SharedDataDetails, ZincHasItsLabelsAndAtoms) {
  EGC_READ_SHARED(d, "zinc12k");
  const Summary s = summarize(d);
  EXPECT_NEAR(s.parts[0].mean, 0.0153, 5e-5);
  EXPECT_NEAR(s.parts[0].std * std::sqrt(10000.0 / 9999), 2.0109, 5e-5);
  EXPECT_NEAR(s.graph_nodes.mean, 23.155, 5e-4);
  EXPECT_NEAR(2 * s.graph_edges.mean, 49.831, 5e-4);
  EXPECT_EQ(d.sample(0).num_nodes, 29);
  EXPECT_EQ(2 * d.sample(0).num_edges(), 64);
  const auto& atoms = d.node_features.categories.values;
  const auto last = atoms.begin() + d.first_node[10000];
  EXPECT_EQ(*std::max_element(atoms.begin(), last), 20);
  // A predictor of the training median errs by 1.547 on the test set.
  std::vector<float> train;
  for (const int64_t k : d.splits[0].train) train.push_back(d.labels.values.at(k, 0));
  std::nth_element(train.begin(), train.begin() + 5000, train.end());
  double error = 0;
  for (const int64_t k : d.splits[0].test)
    error += std::abs(d.labels.values.at(k, 0) - train[5000]);
  EXPECT_NEAR(error / 1000, 1.547, 0.001);
}

TEST(SharedDataDetails, CodeHasItsVocabulary) {
  EGC_READ_SHARED(d, "code_ast_standin");
  EXPECT_EQ(d.info.categories, (Counts{92, 10002, 21}));
  EXPECT_NEAR(static_cast<double>(d.num_nodes()) / 31232, 116.0, 0.05);
  EXPECT_NEAR(static_cast<double>(d.num_edges()) / 31232, 115.0, 0.05);
  EXPECT_NEAR(summarize(d).labels.mean_words, 65964.0 / 31232, 1e-9);
  for (const int64_t k : {int64_t{0}, int64_t{31231}}) {  // trees: every node but the root once
    const Sample s = d.sample(k);
    ASSERT_EQ(s.num_edges(), s.num_nodes - 1);
    for (int64_t e = 0; e < s.num_edges(); ++e) EXPECT_LT(s.edges[2 * e], s.edges[2 * e + 1]);
  }
}

TEST(SharedDataDetails, TuSetsHaveTenFolds) {
  for (const auto& [folder, folds] : {std::pair{"tu/MUTAG", 10},
                                      {"tu/ENZYMES", 20},
                                      {"tu/PROTEINS", 20},
                                      {"tu/IMDB-BINARY", 10}}) {
    EGC_READ_SHARED(d, folder);
    ASSERT_EQ(d.splits.size(), static_cast<size_t>(folds)) << folder;
    // The test parts of ten folds never share a graph.
    Counts seen(static_cast<size_t>(d.num_graphs()), 0);
    for (int k = 1; k <= 10; ++k)
      for (const int64_t id : d.split(fmt::format("dgcnn_10fold-{}", k)).test) ++seen[id];
    EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 1) << folder;
  }
}

// The neighbours of the first 1,000 graphs, computed by those who made the data with numpy.
TEST(SharedDataDetails, SuperpixelsHaveTheirNeighbours) {
  EGC_READ_SHARED(d, "cifar10_superpixels_jpeg");
  EXPECT_NEAR(static_cast<double>(d.num_nodes()) / 60000, 111.73, 0.005);
  const int64_t nodes = d.first_node[1000];
  const std::string want = read_text(*d_path / "raw" / "knn8.first1000.u8.gz", 1 << 24);
  ASSERT_EQ(static_cast<int64_t>(want.size()), 8 * nodes);
  int64_t wrong = 0;
  for (int64_t k = 0; k < 1000; ++k) {
    const Sample s = d.sample(k);
    for (int64_t e = 0; e < s.num_edges(); ++e) {
      ASSERT_EQ(s.edges[2 * e], e / 8);
      wrong += s.edges[2 * e + 1] != static_cast<unsigned char>(want[s.first_edge + e]) ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << want.size();
  for (const float v : d.node_features.floats.values) {
    ASSERT_GE(v, 0);
    ASSERT_LE(v, 1);
  }
}

}  // namespace
}  // namespace egc::data
