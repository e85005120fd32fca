// Datasets read as they are meant: every spelling of the same numbers is the same dataset, and what
// networks see of it is what the rules say.
#include "egc/data/raw/read_dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "egc/core/rng.h"
#include "egc/data/build/superpixels.h"
#include "egc/data/formats/npy.h"
#include "egc/data/formats/number_table.h"
#include "egc/data/formats/text_blocks.h"
#include "egc/data/raw/write_dataset.h"
#include "egc/data/splits.h"
#include "egc/data/summary.h"
#include "egc/data/training_edges.h"
#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;
using testing::DatasetFiles;
using testing::difference;
using testing::expect_error;
using testing::gzip;
using testing::npy;
using testing::to_vector;
using Files = const DatasetFiles&;
using Ids = std::vector<int64_t>;
using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kBlock = 256 << 10;  // of text_blocks.cpp

Dataset parse(Files files) { return read_dataset(files.dir(), {.cache = false}); }

// NaN equals NaN.
void expect_floats(std::span<const float> got, const Floats& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < want.size(); ++k)
    EXPECT_TRUE(got[k] == want[k] || (std::isnan(got[k]) && std::isnan(want[k])))
        << k << ": " << got[k] << " instead of " << want[k];
}

Ints edges_of(const Csr& graph) {  // source, target, by target
  Ints out;
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      out.insert(out.end(), {graph.sources()[e], static_cast<int32_t>(i)});
  return out;
}

TEST(ReadDataset, Molecules) {
  const DatasetFiles files;
  files.make_molecules();
  const Dataset d = parse(files);
  EXPECT_EQ(d.info.name, "molecules");
  EXPECT_EQ(d.info.task, Task::kGraphRegression);
  EXPECT_EQ(d.info.metric, Metric::kMae);
  EXPECT_EQ(d.info.node_features, FeatureKind::kCategorical);
  EXPECT_EQ(d.num_graphs(), 3);
  EXPECT_EQ(d.num_items(), 3);
  EXPECT_EQ(to_vector(d.first_node), (Ids{0, 3, 5, 9}));
  EXPECT_EQ(to_vector(d.first_edge), (Ids{0, 3, 4, 8}));
  EXPECT_EQ(to_vector(d.edges.values), (Ints{0, 1, 1, 2, 2, 0, 1, 0, 0, 1, 1, 2, 2, 3, 3, 3}));
  EXPECT_EQ(d.node_features.columns(), 2);
  EXPECT_EQ(to_vector(d.node_features.categories.values),
            (Ints{0, 1, 1, 0, 2, 1, 0, 0, 1, 1, 2, 0, 0, 1, 1, 1, 2, 1}));
  EXPECT_EQ(to_vector(d.edge_features.categories.values), (Ints{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(to_vector(d.labels.values.values), (Floats{0.5, -1.25, 3}));
  EXPECT_EQ(to_vector(d.sample(1).edges), (Ints{1, 0}));
  EXPECT_EQ(d.sample(2).first_node, 5);
  ASSERT_EQ(d.splits.size(), 1U);
  EXPECT_EQ(d.splits[0].name, "random");
  EXPECT_EQ(to_vector(d.splits[0].valid), Ids{1});
  EXPECT_NO_THROW(check_dataset(d, "test"));
}

TEST(ReadDataset, Citations) {
  const DatasetFiles files;
  files.make_citations();
  const Dataset d = parse(files);
  EXPECT_EQ(d.info.metric, Metric::kAccuracy);
  EXPECT_EQ(d.num_graphs(), 1);
  EXPECT_EQ(d.num_items(), 5);
  EXPECT_EQ(to_vector(d.first_edge), (Ids{0, 6}));
  EXPECT_EQ(to_vector(d.node_features.floats.values),
            (Floats{0.5, 1, 1.5, -2, 2.5, 300, 3.5, 0, 4.5, 1}));
  EXPECT_EQ(to_vector(d.labels.classes), (Ints{0, 1, 2, 1, 0}));
  EXPECT_EQ(to_vector(d.split("time").test), (Ids{3, 1}));
  EXPECT_NO_THROW(check_dataset(d, "test"));
}

// The same dataset, written otherwise.
struct Spelling {
  const char* name;
  std::function<std::string(std::string)> change;  // of every table
  bool gz = false;
};

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string two_members(const std::string& text) {
  const size_t half = text.size() / 2;  // also within a line
  return gzip(text.substr(0, half)) + gzip("") + gzip(text.substr(half));
}

void PrintTo(const Spelling& spelling, std::ostream* out) { *out << spelling.name; }

class Spellings : public ::testing::TestWithParam<Spelling> {};

TEST_P(Spellings, GiveTheSameDataset) {
  for (const auto make : {&DatasetFiles::make_molecules, &DatasetFiles::make_citations,
                          &DatasetFiles::make_authors, &DatasetFiles::make_relations}) {
    const DatasetFiles files;
    (files.*make)();
    const Dataset want = parse(files);
    std::vector<std::string> tables;
    for (const auto& entry : fs::recursive_directory_iterator(files.dir()))
      if (entry.path().extension() == ".csv")
        tables.push_back(entry.path().lexically_relative(files.dir()).string());
    ASSERT_GE(tables.size(), 5U);
    for (const std::string& name : tables) {
      const std::string changed = GetParam().change(files.read(name));
      files.remove(name);
      files.write(GetParam().gz ? name + ".gz" : name, changed);
    }
    try {
      EXPECT_EQ(difference(parse(files), want), "") << want.info.name;
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Data, Spellings,
    ::testing::Values(
        Spelling{"Gzip", [](const std::string& text) { return gzip(text); }, true},
        Spelling{"GzipInTwoMembers", two_members, true},
        Spelling{"PlainNamedGz", [](const std::string& text) { return text; }, true},
        Spelling{"GzipNamedPlain", [](const std::string& text) { return gzip(text); }},
        Spelling{"Crlf", [](std::string text) { return replace_all(text, "\n", "\r\n"); }},
        Spelling{"ByteOrderMark", [](const std::string& text) { return "\xEF\xBB\xBF" + text; }},
        Spelling{"ByteOrderMarkInGzip",
                 [](const std::string& text) { return gzip("\xEF\xBB\xBF" + text); }, true},
        Spelling{"NoLastNewline",
                 [](std::string text) {
                   text.pop_back();
                   return text;
                 }},
        Spelling{"NoLastNewlineButAReturn",
                 [](std::string text) {
                   text.back() = '\r';
                   return text;
                 }},
        Spelling{"TrailingBlankLines", [](std::string text) { return text + "\n\r\n\n"; }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ReadDataset, WholeNumbersMayHaveAPoint) {
  const DatasetFiles files;
  files.make_molecules();
  const Dataset want = parse(files);
  for (const std::string name :
       {"raw/num-node-list.csv", "raw/edge.csv", "raw/node-feat.csv", "split/random/train.csv"})
    files.write(name, replace_all(replace_all(files.read(name), "\n", ".0\n"), ",", ".000,"));
  EXPECT_EQ(difference(parse(files), want), "");
}

TEST(ReadDataset, BlanksAroundNumbersAreNothing) {
  const DatasetFiles files;
  files.make_citations();
  const Dataset want = parse(files);
  for (const std::string name : {"raw/edge.csv", "raw/node-feat.csv"})
    files.write(name, " " + replace_all(replace_all(files.read(name), ",", " ,\t "), "\n", " \n"));
  EXPECT_EQ(difference(parse(files), want), "");
}

TEST(ReadDataset, ATrailingSlashIsNothing) {
  const DatasetFiles files("zinc");  // a published dataset's folder tells what is not in the files
  files.make_molecules();
  files.remove("dataset.json");
  files.write("raw/node-feat.csv", "0\n1\n2\n3\n4\n5\n6\n7\n8\n");
  const Dataset d = parse(files);
  EXPECT_EQ(d.info.recipe, "zinc");
  EXPECT_EQ(d.info.categories, Ids{28});
  EXPECT_EQ(difference(read_dataset(files.dir() / "", {.cache = false}), d), "");
  EXPECT_EQ(difference(read_dataset(files.dir() / ".", {.cache = false}), d), "");
}

TEST(ReadDataset, GraphsWithoutNodesOrEdges) {
  const DatasetFiles files;
  files.make_molecules();
  files.write("raw/num-node-list.csv", "0\n2\n0\n");
  files.write("raw/num-edge-list.csv", "0\n0\n0\n");
  files.write("raw/edge.csv", "");
  files.write("raw/node-feat.csv", "0,0\n1,1\n");
  files.remove("raw/edge-feat.csv");
  const Dataset d = parse(files);
  EXPECT_EQ(to_vector(d.first_node), (Ids{0, 0, 2, 2}));
  EXPECT_EQ(d.num_edges(), 0);
  EXPECT_EQ(training_graph(d, 1, EdgeRules::of(d)).num_targets(), 2);
}

// npy

struct NpyCase {
  const char* descr;
  std::string data;
};

TEST(ReadDataset, NpyFloatsOfEveryWidth) {
  const Floats want = {0.5, -2, 65504, 0, 1, 0x1p-24F, 0x1p-14F, 1.5, -0.25, 3};
  const std::vector<uint16_t> halves = {0x3800, 0xC000, 0x7BFF, 0x0000, 0x3C00,
                                        0x0001, 0x0400, 0x3E00, 0xB400, 0x4200};
  const NpyCase cases[] = {{"<f2", bytes_of(halves)},
                           {"<f4", bytes_of(want)},
                           {"<f8", bytes_of(std::vector<double>(want.begin(), want.end()))}};
  for (const NpyCase& c : cases) {
    const DatasetFiles files;
    files.make_citations();
    files.remove("raw/node-feat.csv");
    files.write("raw/node-feat.npy", npy(c.descr, "(5, 2)", c.data));
    const Dataset d = parse(files);
    EXPECT_EQ(d.node_features.columns(), 2) << c.descr;
    expect_floats(d.node_features.floats.values, want);
  }
}

TEST(ReadDataset, NpyIntegersOfEveryWidth) {
  const auto as = []<class T>(T) { return bytes_of(std::vector<T>{0, 1, 2, 0, 1, 2, 0, 1, 100}); };
  const NpyCase cases[] = {{"|i1", as(int8_t{})},  {"<i2", as(int16_t{})}, {"<i4", as(int32_t{})},
                           {"<i8", as(int64_t{})}, {"|u1", as(uint8_t{})}, {"<u2", as(uint16_t{})},
                           {"<u4", as(uint32_t{})}};
  for (const NpyCase& c : cases) {
    const DatasetFiles files;
    files.make_molecules();
    files.remove("dataset.json");
    files.remove("raw/node-feat.csv");
    files.write("raw/node-feat.npy", npy(c.descr, "(9,)", c.data));
    const Dataset d = parse(files);
    EXPECT_EQ(d.info.node_features, FeatureKind::kCategorical) << c.descr;
    EXPECT_EQ(d.info.categories, Ids{101}) << c.descr;
    EXPECT_EQ(to_vector(d.node_features.categories.values), (Ints{0, 1, 2, 0, 1, 2, 0, 1, 100}));
  }
}

TEST(ReadDataset, NpyIntegersAreFloatsWhereThoseArePromised) {
  const DatasetFiles files;
  files.make_citations();
  files.replace("dataset.json", "{", R"({"node_features": "float", )");
  files.remove("raw/node-feat.csv");
  files.write("raw/node-feat.npy", npy("|b1", "(5,)", std::string("\1\0\0\1\1", 5)));
  expect_floats(parse(files).node_features.floats.values, {1, 0, 0, 1, 1});
}

TEST(Npy, EveryHalfIsTheFloatItMeans) {
  const DatasetFiles files;
  std::vector<uint16_t> halves(65536);
  for (size_t k = 0; k < halves.size(); ++k) halves[k] = static_cast<uint16_t>(k);
  files.write("all.npy", npy("<f2", "(65536,)", bytes_of(halves)));
  const Matrix<float> m = read_npy<float>(files.path("all.npy"));
  ASSERT_EQ(m.rows(), 65536);
  for (int64_t k = 0; k < 65536; ++k) {
    const auto exponent = static_cast<int>(k >> 10 & 31);
    const auto fraction = static_cast<double>(k & 1023) / 1024;
    double want = exponent == 0    ? std::pow(2.0, -14) * fraction
                  : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                   : std::pow(2.0, exponent - 15) * (1 + fraction);
    if (k >= 32768) want = -want;
    const float got = m.values[k];
    ASSERT_TRUE(std::isnan(want)
                    ? std::isnan(got)
                    : got == static_cast<float>(want) && std::signbit(got) == std::signbit(want))
        << k << ": " << got << " instead of " << want;
  }
}

// labels

TEST(ReadDataset, MissingLabels) {
  const DatasetFiles files;
  files.make_citations();
  files.write("raw/node-label.csv", "-1\nnan\n2\n\n1\n");
  EXPECT_EQ(to_vector(parse(files).labels.classes), (Ints{-1, -1, 2, -1, 1}));
  files.write("raw/node-label.csv", "\n0\n1.0\n-1.0\nNaN\n");
  EXPECT_EQ(to_vector(parse(files).labels.classes), (Ints{-1, 0, 1, -1, -1}));
}

TEST(ReadDataset, MissingLabelsOfGraphs) {
  const DatasetFiles files;
  files.make_molecules();
  const std::pair<const char*, Floats> cases[] = {{"0.5\n\n-1\n", {0.5, kNan, -1}},
                                                  {"0.5\nnan\n\n", {0.5, kNan, kNan}},
                                                  {"\n0.5\n-1\n", {kNan, 0.5, -1}},
                                                  {"nan\nNaN\n-1\n", {kNan, kNan, -1}}};
  for (const auto& [text, want] : cases) {
    files.write("raw/graph-label.csv", text);
    try {
      expect_floats(parse(files).labels.values.values, want);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

TEST(ReadDataset, BinaryLabelsOfSeveralTasks) {
  const DatasetFiles files;
  files.make_molecules();
  files.replace("dataset.json", "graph-regression", "graph-binary");
  files.write("raw/graph-label.csv", ",1,0\r\n1.0,nan,\r\n,,\r\n");
  const Dataset d = parse(files);
  EXPECT_EQ(d.info.num_targets, 3);
  EXPECT_EQ(d.info.metric, Metric::kRocAuc);
  expect_floats(d.labels.values.values, {kNan, 1, 0, 1, kNan, kNan, kNan, kNan, kNan});
}

// What the data tell without dataset.json.
struct Inferred {
  const char* name;
  void (DatasetFiles::*make)() const;
  const char* label_file;
  const char* labels;
  Task task;
  Metric metric;
  int64_t classes = 0;
  int64_t targets = 1;
};

TEST(ReadDataset, WithoutDatasetJson) {
  constexpr auto kMolecules = &DatasetFiles::make_molecules;
  constexpr const char* kGraphs = "raw/graph-label.csv";
  const Inferred cases[] = {
      {"Fractions", kMolecules, kGraphs, "0.5\n1\n2\n", Task::kGraphRegression, Metric::kMae},
      {"Whole", kMolecules, kGraphs, "0\n3\n1\n", Task::kGraphClassification, Metric::kAccuracy, 4},
      {"Exponents", kMolecules, kGraphs, "1e-3\n-2E+2\n1\n", Task::kGraphRegression, Metric::kMae},
      {"Bits", kMolecules, kGraphs, "0,1\n1,\n0,0\n", Task::kGraphBinary, Metric::kRocAuc, 0, 2},
      {"Columns", kMolecules, kGraphs, "0,.5\n1,2\n0,0\n", Task::kGraphRegression, Metric::kMae, 0,
       2},
      {"OneNan", kMolecules, kGraphs, "0.5\nnan\n2\n", Task::kGraphRegression, Metric::kMae},
      {"CapitalNan", kMolecules, kGraphs, "0.5\nNaN\n2\n", Task::kGraphRegression, Metric::kMae},
      {"NanInColumns", kMolecules, kGraphs, "0,nan\nnan,1\n0,0\n", Task::kGraphBinary,
       Metric::kRocAuc, 0, 2},
      {"Words", kMolecules, kGraphs, "get\n\nset item\n", Task::kGraphSequence, Metric::kF1},
      {"Nodes", &DatasetFiles::make_citations, "raw/node-label.csv", "0\n6\n1\n-1\n0\n",
       Task::kNodeClassification, Metric::kAccuracy, 7},
      {"Types", &DatasetFiles::make_authors, "raw/node-label/paper/node-label.csv", "0\n4\n1\n",
       Task::kNodeClassificationHetero, Metric::kAccuracy, 5},
      {"RelationIds", &DatasetFiles::make_relations, "raw/node-label.csv", "0\n1\n0\n3\n",
       Task::kNodeClassificationHetero, Metric::kAccuracy, 4},
  };
  for (const Inferred& c : cases) {
    SCOPED_TRACE(c.name);
    const DatasetFiles files("some-folder");
    (files.*c.make)();
    files.remove("dataset.json");
    files.write(c.label_file, c.labels);
    try {
      const Dataset d = parse(files);
      EXPECT_EQ(d.info.name, "some-folder");
      EXPECT_EQ(tasks().name_of(d.info.task), tasks().name_of(c.task));
      EXPECT_EQ(metrics().name_of(d.info.metric), metrics().name_of(c.metric));
      EXPECT_EQ(d.info.num_classes, c.classes);
      EXPECT_EQ(d.info.num_targets, c.targets);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

TEST(ReadDataset, FeaturesWithoutDatasetJson) {
  const DatasetFiles files;
  files.make_molecules();
  files.remove("dataset.json");
  const Dataset whole = parse(files);
  EXPECT_EQ(whole.info.node_features, FeatureKind::kCategorical);
  EXPECT_EQ(whole.info.categories, (Ids{3, 2}));
  EXPECT_EQ(whole.info.edge_categories, Ids{3});
  files.replace("raw/node-feat.csv", "2,1", "2,1e0");
  EXPECT_EQ(parse(files).info.node_features, FeatureKind::kFloat);
  files.remove("raw/node-feat.csv");
  EXPECT_EQ(parse(files).info.node_features, FeatureKind::kNone);
}

TEST(ReadDataset, FeaturesThatTurnToFloatsLate) {
  // The kind is looked for in the beginning; whatever comes later must not be a wrong answer.
  const DatasetFiles files;
  files.make_molecules();
  files.remove("dataset.json");
  constexpr int64_t kNodes = 200'000;  // 4 bytes each: beyond the first block
  std::string features;
  for (int64_t k = 0; k < kNodes; ++k) features += k + 1 == kNodes ? "1.5\n" : "1,0\n";
  features.replace(features.size() - 4, 4, "1,.5\n");
  files.write("raw/num-node-list.csv", "3\n2\n" + std::to_string(kNodes - 5) + "\n");
  files.write("raw/node-feat.csv", features);
  expect_error(ErrorKind::kData, {"node-feat.csv:200000: column 2", "\".5\""},
               [&] { parse(files); });
}

// splits

TEST(ReadSplits, ThreeLayoutsSortedByName) {
  const DatasetFiles files;
  files.make_molecules();
  files.write("split/folds/train_idx-1.txt", "1\n2\n");
  files.write("split/folds/test_idx-1.txt", "0\n");
  files.write("split/folds/train_idx-2.txt", "0\n2\n");
  files.write("split/folds/test_idx-2.txt.gz", gzip("1\n"));
  files.write("split/index/train.index", "2\n0\n");
  files.write("split/index/val.index", "1\r\n2\r\n");
  files.write("split/index/test.index", "0\n1");
  files.write("split/alone/train.csv", "2\n0\n");
  files.write("split/alone/test.csv", "1\n");
  files.write("split/README", "not a folder");
  const Dataset d = parse(files);
  std::vector<std::string> names;
  for (const Split& s : d.splits) names.push_back(s.name);
  EXPECT_EQ(names, (std::vector<std::string>{"alone", "folds-1", "folds-2", "index-1", "index-2",
                                             "random"}));
  EXPECT_EQ(to_vector(d.split("").train), (Ids{2, 0}));
  EXPECT_TRUE(d.split("alone").valid.empty());
  EXPECT_EQ(to_vector(d.split("folds-2").train), (Ids{0, 2}));
  EXPECT_EQ(to_vector(d.split("folds-2").test), Ids{1});
  EXPECT_EQ(to_vector(d.split("index-1").train), Ids{2});
  EXPECT_EQ(to_vector(d.split("index-2").valid), Ids{2});
  EXPECT_EQ(to_vector(d.split("index-2").test), Ids{1});
  expect_error(ErrorKind::kUsage, {"\"other\"", "alone, folds-1"}, [&] { d.split("other"); });
}

TEST(ReadSplits, NoneAtAll) {
  const DatasetFiles files;
  files.make_molecules();
  files.remove("split");
  const Dataset d = parse(files);
  EXPECT_TRUE(d.splits.empty());
  expect_error(ErrorKind::kData, {"molecules", "no split"}, [&] { d.split(""); });
}

TEST(ReadSplits, IdsOfGraphsWhereNodesOfSeveralGraphsHaveLabels) {
  const DatasetFiles files;
  files.make_molecules();
  files.write("dataset.json", R"({"task": "node-classification"})");
  files.write("raw/node-label.csv", "0\n1\n2\n0\n1\n2\n0\n1\n5\n");
  files.remove("raw/graph-label.csv");
  const Dataset d = parse(files);
  EXPECT_EQ(d.num_items(), 3);
  EXPECT_EQ(d.info.num_classes, 6);
  const Summary s = summarize(d);
  EXPECT_EQ(s.parts[2].items, 1);
  EXPECT_EQ(s.parts[2].labelled, 4);  // the nodes of graph 2
  EXPECT_EQ(s.parts[2].classes, (Ids{1, 1, 1, 0, 0, 1}));
}

Ids iota(int64_t n) {
  Ids out(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) out[k] = k;
  return out;
}

Ids all_of(const Split& s) {
  Ids out;
  for (const auto* part : {&s.train, &s.valid, &s.test})
    out.insert(out.end(), part->begin(), part->end());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Splits, CutValidIsSeededAndDisjoint) {
  const Split whole{"s", iota(100), {}, Ids{100, 101}};
  for (const double fraction : {0.001, 0.1, 0.25, 0.999}) {
    const Split cut = cut_valid(whole, fraction, 7);
    EXPECT_EQ(cut.name, "s");
    EXPECT_EQ(all_of(cut), iota(102)) << fraction;
    EXPECT_EQ(cut.valid.size(), std::clamp<int64_t>(std::llround(fraction * 100), 1, 99));
    EXPECT_TRUE(std::is_sorted(cut.train.begin(), cut.train.end()));
    EXPECT_TRUE(std::is_sorted(cut.valid.begin(), cut.valid.end()));
    EXPECT_EQ(to_vector(cut_valid(whole, fraction, 7).valid), to_vector(cut.valid));
    EXPECT_NO_THROW(check_split(cut, 102, "test"));
  }
  EXPECT_NE(to_vector(cut_valid(whole, 0.25, 7).valid), to_vector(cut_valid(whole, 0.25, 8).valid));
  for (const double bad : {0.0, 1.0, -0.5, std::nan("")})
    expect_error(ErrorKind::kUsage, {"cut_valid"}, [&] { cut_valid(whole, bad, 7); });
  expect_error(ErrorKind::kUsage, {"has a validation set"},
               [&] { cut_valid(cut_valid(whole, 0.1, 7), 0.1, 7); });
  expect_error(ErrorKind::kData, {"too small"}, [&] { cut_valid({"s", Ids{1}, {}, {}}, 0.5, 7); });
}

TEST(Splits, RandomSplitHasTheFractionsAndEveryIdOnce) {
  struct Case {
    int64_t items;
    std::array<double, 3> fractions;
    std::array<int64_t, 3> sizes;
  };
  const Case cases[] = {{1000, {0.8, 0.1, 0.1}, {800, 100, 100}},
                        {10, {0.5, 0, 0.5}, {5, 0, 5}},
                        {3, {1, 0, 0}, {3, 0, 0}},
                        {1, {0.5, 0.5, 0}, {1, 0, 0}},
                        {0, {0.5, 0.25, 0.25}, {0, 0, 0}}};
  for (const Case& c : cases) {
    const Split s = random_split(c.items, c.fractions, 3);
    EXPECT_EQ(all_of(s), iota(c.items));
    EXPECT_EQ((std::array<int64_t, 3>{s.train.size(), s.valid.size(), s.test.size()}), c.sizes);
    EXPECT_TRUE(std::is_sorted(s.train.begin(), s.train.end()));
  }
  const auto train = [](uint64_t seed) {
    return to_vector(random_split(1000, {0.8, 0.1, 0.1}, seed).train);
  };
  EXPECT_EQ(train(3), train(3));
  EXPECT_NE(train(3), train(4));
  EXPECT_NE(train(3), iota(800));
  for (const auto& bad :
       {std::array{0.8, 0.1, 0.2}, std::array{1.5, -0.5, 0.0}, std::array{std::nan(""), 0.5, 0.5}})
    expect_error(ErrorKind::kUsage, {"fraction"}, [&] { random_split(10, bad, 1); });
}

TEST(Splits, CheckSplitRefusesWhatReadingDoes) {
  const auto refused = [](Ids train, Ids valid, Ids test, const char* why) {
    expect_error(ErrorKind::kData, {"here", why}, [&] {
      check_split({"s", std::move(train), std::move(valid), std::move(test)}, 4, "here");
    });
  };
  EXPECT_NO_THROW(check_split({"s", Ids{3, 0}, {}, Ids{1}}, 4, "here"));
  refused({0, 4}, {}, {1}, "got 4");
  refused({0}, {-1}, {1}, "got -1");
  refused({0}, {2}, {1, 0}, "duplicate id 0");
  refused({0, 0}, {2}, {1}, "duplicate id 0");
  refused({}, {2}, {1}, "empty");
  refused({0}, {2}, {}, "empty");
}

// several types

TEST(ReadDataset, TypesInFolders) {
  const DatasetFiles files;
  files.make_authors();
  const Dataset d = parse(files);
  const HeteroParts& h = d.hetero;
  EXPECT_EQ(h.schema, (HeteroSchema{{"author", "paper"}, {{"writes", 0, 1}, {"cites", 1, 1}}}));
  EXPECT_EQ(h.num_nodes, (Ids{2, 3}));
  EXPECT_EQ(h.target_type, 1);
  EXPECT_EQ(d.num_items(), 3);
  EXPECT_EQ(d.num_edges(), 5);
  EXPECT_EQ(to_vector(h.edges[0].values), (Ints{0, 0, 1, 2, 1, 1}));
  EXPECT_EQ(to_vector(h.edges[1].values), (Ints{0, 1, 1, 2}));
  EXPECT_TRUE(h.features[0].empty());
  EXPECT_EQ(to_vector(h.features[1].floats.values), (Floats{0.5, 1, 1.5, 2, 2.5, 3}));
  EXPECT_EQ(to_vector(d.labels.classes), (Ints{0, 1, 1}));
  EXPECT_EQ(to_vector(d.split("time").valid), Ids{2});
  EXPECT_NO_THROW(check_dataset(d, "test"));
  files.remove("raw/triplet-type-list.csv");  // the folders' names say the same
  EXPECT_EQ(difference(parse(files), d), "");
}

TEST(ReadDataset, TypesAsNetworksSeeThem) {
  const DatasetFiles files;
  files.make_authors();
  Dataset d = parse(files);
  const HeteroSchema schema = training_schema(d);
  EXPECT_EQ(schema, (HeteroSchema{{"author", "paper"},
                                  {{"writes", 0, 1}, {"cites", 1, 1}, {"rev_writes", 1, 0}}}));
  const HeteroGraph graph = training_hetero_graph(d);
  EXPECT_NO_THROW(check_hetero_graph(schema, graph));
  ASSERT_EQ(graph.relations.size(), 3U);
  EXPECT_EQ(edges_of(graph.relations[0]), (Ints{0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(edges_of(graph.relations[1]), (Ints{1, 0, 0, 1, 2, 1, 1, 2}));  // symmetric
  EXPECT_EQ(edges_of(graph.relations[2]), (Ints{0, 0, 1, 1, 2, 1}));
  EXPECT_EQ(summarize(d).training_edges, 10);

  d.info.undirected = false;  // a relation within a type gets an inverse of its own
  EXPECT_EQ(training_schema(d).relations.back(), (HeteroSchema::Relation{"rev_cites", 1, 1}));
  const HeteroGraph directed = training_hetero_graph(d);
  EXPECT_NO_THROW(check_hetero_graph(training_schema(d), directed));
  ASSERT_EQ(directed.relations.size(), 4U);
  EXPECT_EQ(edges_of(directed.relations[1]), (Ints{0, 1, 1, 2}));
  EXPECT_EQ(edges_of(directed.relations[3]), (Ints{1, 0, 2, 1}));

  d.info.add_inverse_edge = false;
  EXPECT_EQ(training_schema(d), d.hetero.schema);
  EXPECT_EQ(training_hetero_graph(d).relations.size(), 2U);
}

TEST(ReadDataset, RelationIdsPerEdge) {
  const DatasetFiles files;
  files.make_relations();
  const Dataset d = parse(files);
  const HeteroParts& h = d.hetero;
  EXPECT_EQ(h.schema, (HeteroSchema{{"node"}, {{"r0", 0, 0}, {"r1", 0, 0}, {"r2", 0, 0}}}));
  EXPECT_EQ(h.num_nodes, Ids{4});
  EXPECT_EQ(to_vector(h.edges[0].values), (Ints{0, 1, 2, 3}));
  EXPECT_TRUE(h.edges[1].empty());
  EXPECT_EQ(to_vector(h.edges[2].values), (Ints{1, 2, 3, 0}));
  EXPECT_EQ(to_vector(d.labels.classes), (Ints{0, 1, 0, -1}));
  EXPECT_EQ(to_vector(d.split("random").train), (Ids{0, 1}));
  EXPECT_NO_THROW(check_dataset(d, "test"));
  EXPECT_NO_THROW(check_hetero_graph(training_schema(d), training_hetero_graph(d)));
}

TEST(ReadDataset, RelationsOfTheSameNameStayApart) {
  const DatasetFiles files;
  files.make_authors();
  files.append("raw/triplet-type-list.csv", "paper,writes,author\nauthor,writes,author\n");
  files.write("raw/relations/paper___writes___author/edge.csv", "2,0\n");
  files.write("raw/relations/author___writes___author/edge.csv", "");
  const Dataset d = parse(files);
  EXPECT_NO_THROW(check_dataset(d, "test"));
  EXPECT_EQ(d.hetero.schema.relations.size(), 4U);
  EXPECT_EQ(d.num_edges(), 6);
}

// code

TEST(ReadDataset, Code) {
  const DatasetFiles files;
  files.make_code();
  const Dataset d = parse(files);
  EXPECT_EQ(d.info.task, Task::kGraphSequence);
  EXPECT_EQ(d.info.categories, (Ids{6, 10, 21}));
  // Depth 25 counts as 20.
  EXPECT_EQ(to_vector(d.node_features.categories.values),
            (Ints{5, 7, 0, 1, 0, 1, 2, 3, 1, 0, 9, 20, 4, 4, 0}));
  EXPECT_EQ(to_vector(d.node_is_attributed), (std::vector<uint8_t>{0, 1, 0, 1, 1}));
  EXPECT_EQ(d.labels.tokens[0], "get name");
  EXPECT_EQ(d.labels.tokens[1], "set");
}

TEST(ReadDataset, CodeOfTheLargestAttribute) {
  const DatasetFiles files;
  files.make_code();
  files.replace("raw/node-feat.csv", "0,9", "0,2147483647");
  const Dataset d = parse(files);
  EXPECT_EQ(d.node_features.categories.at(3, 1), 2147483647);
  EXPECT_EQ(d.info.categories, (Ids{6, int64_t{1} << 31, 21}));
}

TEST(CodeEdges, JoinTheTree) {
  const DatasetFiles files;
  files.make_code();
  const Dataset d = parse(files);
  // The tree 0 -> 1, 0 -> 2, 2 -> 3; nodes 1 and 3 carry tokens.
  EXPECT_EQ(code_edges(d, 0), (Ints{0, 1, 0, 1, 0, 1, 0, 2, 0, 2, 0, 1,  //
                                    2, 3, 0, 3, 2, 1, 1, 3, 2, 3, 1, 3}));
  EXPECT_TRUE(code_edges(d, 1).empty());
  const EdgeRules rules = EdgeRules::of(d);
  EXPECT_TRUE(rules.inverse && rules.next_token && !rules.undirected);
  EXPECT_EQ(edges_of(training_graph(d, 0, rules)),
            (Ints{1, 0, 2, 0, 0, 1, 3, 1, 0, 2, 3, 2, 1, 3, 2, 3}));
  EXPECT_EQ(training_graph(d, 1, rules).num_edges(), 0);
}

TEST(CodeEdges, ATokenOfOneGraphIsNotJoinedToTheNext) {
  const DatasetFiles files;
  files.make_code();
  files.write("raw/num-node-list.csv", "2\n3\n");
  files.write("raw/num-edge-list.csv", "1\n2\n");
  files.write("raw/edge.csv", "0,1\n0,1\n1,2\n");
  files.write("raw/node_is_attributed.csv", "1\n1\n1\n1\n1\n");
  const Dataset d = parse(files);
  EXPECT_EQ(code_edges(d, 0), (Ints{0, 1, 0, 1, 0, 1, 0, 1, 2, 1, 0, 3}));
  EXPECT_EQ(code_edges(d, 1), (Ints{0, 1, 0, 1, 0, 1, 1, 2, 0, 2, 1, 1,  //
                                    0, 1, 2, 1, 0, 3, 1, 2, 2, 2, 1, 3}));
}

// edges as networks see them

TEST(TrainingGraph, FollowsTheRules) {
  const DatasetFiles files;
  files.make_citations();
  const Dataset d = parse(files);  // 0-1 twice, 1-2, 2-3, 3-4, loop 4
  struct Case {
    EdgeRules rules;
    Ints edges;
  };
  const Case cases[] = {
      {{}, {0, 1, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4}},
      {{.undirected = true}, {1, 0, 0, 1, 2, 1, 1, 2, 3, 2, 2, 3, 4, 3, 3, 4, 4, 4}},
      {{.undirected = true, .drop_loops = true}, {1, 0, 0, 1, 2, 1, 1, 2, 3, 2, 2, 3, 4, 3, 3, 4}},
      {{.inverse = true}, {1, 0, 1, 0, 0, 1, 0, 1, 2, 1, 1, 2, 3, 2, 2, 3, 4, 3, 3, 4, 4, 4, 4, 4}},
      {{.drop_loops = true}, {0, 1, 0, 1, 1, 2, 2, 3, 3, 4}},
      {{.undirected = true, .inverse = true},
       {1, 0, 0, 1, 2, 1, 1, 2, 3, 2, 2, 3, 4, 3, 3, 4, 4, 4}},
  };
  for (size_t k = 0; k < std::size(cases); ++k)
    EXPECT_EQ(edges_of(training_graph(d, 0, cases[k].rules)), cases[k].edges) << k;
  EXPECT_TRUE(EdgeRules::of(d).undirected);
  EXPECT_FALSE(EdgeRules::of(d).inverse);
  EXPECT_EQ(summarize(d).training_edges, 9);
}

// tables

TEST(NumberTable, LargeOnesAreTheNumbersWritten) {
  const DatasetFiles files;
  Rng rng(11);
  Ints want;
  std::string text;
  while (text.size() < 6 * kBlock) {
    for (int column = 0; column < 3; ++column) {
      want.push_back(static_cast<int32_t>(rng()));
      text += std::to_string(want.back()) + (column == 2 ? "\n" : ",");
    }
  }
  files.write("t.csv", text);
  files.write("t.csv.gz", gzip(text));
  for (const char* name : {"t.csv", "t.csv.gz"}) {
    const auto table = read_number_table<int32_t>(files.path(name));
    EXPECT_EQ(table.columns, 3);
    EXPECT_TRUE(to_vector(table.values) == want) << name;
  }
  // A bad number in the last line of many blocks has the right line.
  const auto lines = static_cast<int64_t>(want.size() / 3);
  files.write("bad.csv", text + "1,x,2\n");
  expect_error(ErrorKind::kData, {"bad.csv:" + std::to_string(lines + 1) + ": column 2"},
               [&] { read_number_table<int32_t>(files.path("bad.csv")); });
}

TEST(NumberTable, LinesThatEndAtABlocksEnd) {
  const DatasetFiles files;
  for (const size_t size : {kBlock - 2, kBlock - 1, kBlock, kBlock + 1, 2 * kBlock}) {
    for (const std::string end : {"\n", ""}) {
      std::string text(size - 2, '0');
      for (size_t k = 1; k < text.size(); k += 2) text[k] = '\n';
      text.resize(size - 1, '7');
      text = text.substr(0, size - end.size()) + end;
      const auto lines = std::count(text.begin(), text.end(), '\n') + (text.back() != '\n');
      files.write("t.csv", text);
      EXPECT_EQ(read_number_column<int64_t>(files.path("t.csv")).size(), lines) << size;
    }
  }
}

TEST(NumberTable, ALineLongerThanABlock) {
  const DatasetFiles files;
  constexpr int64_t kColumns = 300'000;
  std::string text;
  for (int row = 0; row < 2; ++row)
    for (int64_t k = 0; k < kColumns; ++k)
      text += std::to_string(k % 97) + (k + 1 == kColumns ? "\n" : ",");
  ASSERT_GT(text.size() / 2, 3 * kBlock);
  files.write("t.csv.gz", gzip(text));
  const auto table = read_number_table<float>(files.path("t.csv.gz"));
  ASSERT_EQ(table.columns, kColumns);
  ASSERT_EQ(table.rows(), 2);
  for (int64_t k = 0; k < kColumns; ++k) ASSERT_EQ(table.at(1, k), static_cast<float>(k % 97));
}

TEST(NumberTable, NumbersAreThoseOfStrtof) {
  const DatasetFiles files;
  Rng rng(12);
  std::vector<std::string> written = {"0",
                                      "-0",
                                      "+1.5",
                                      ".5",
                                      "5.",
                                      "1e-45",
                                      "-1e-40",
                                      "3.4028235e38",
                                      "1e-50",
                                      "-1e-400",
                                      "16777217",
                                      "0.1",
                                      "1E5",
                                      "1e+5",
                                      "00012",
                                      "1.00000005960464477539062500000001",
                                      "9007199254740993",
                                      "123456789012345678901234567890"};
  const char* formats[] = {"%.9g", "%.17g", "%.3f", "%e", "%.0f", "%.30f"};
  for (int k = 0; k < 50'000; ++k) {
    const int exponent = static_cast<int>(rng.below(80)) - 40;
    const double value = (rng.uniform() - 0.5) * std::pow(10.0, std::clamp(exponent, -40, 38));
    char text[200];
    std::snprintf(text, sizeof text, formats[rng.below(6)], value);
    written.emplace_back(text);
  }
  std::string text;
  for (const std::string& number : written) text += number + "\n";
  files.write("t.csv", text);
  try {
    const auto got = read_number_column<float>(files.path("t.csv"));
    ASSERT_EQ(got.size(), static_cast<int64_t>(written.size()));
    for (size_t k = 0; k < written.size(); ++k) {
      const float want = std::strtof(written[k].c_str(), nullptr);
      EXPECT_EQ(got[static_cast<int64_t>(k)], want) << written[k];
    }
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
  }
}

TEST(NumberTable, NumbersBelowTheSmallestFloatAreZero) {
  const DatasetFiles files;
  for (const std::string number : {"1e-46", "1e-50", "-1e-300", "1e-400", "0.0000e-99"}) {
    files.write("t.csv", number + "\n");
    try {
      EXPECT_EQ(read_number_column<float>(files.path("t.csv"))[0], 0.0F) << number;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

TEST(NumberTable, WholeNumbersToTheLimits) {
  const DatasetFiles files;
  files.write("t.csv", "-2147483648,2147483647\n0,-0\n");
  EXPECT_EQ(to_vector(read_number_table<int32_t>(files.path("t.csv")).values),
            (Ints{INT32_MIN, INT32_MAX, 0, 0}));
  files.write("t.csv", "9223372036854775807\n-9223372036854775808\n");
  EXPECT_EQ(to_vector(read_number_column<int64_t>(files.path("t.csv"))),
            (Ids{INT64_MAX, INT64_MIN}));
  for (const char* bad : {"2147483648", "-2147483649", "1.01", "0x10", "--1", "1-", "."}) {
    files.write("t.csv", bad);
    expect_error(ErrorKind::kData, {"t.csv:1: column 1"},
                 [&] { read_number_column<int32_t>(files.path("t.csv")); });
  }
}

TEST(TextLinesReader, LinesAndTheirNumbers) {
  const DatasetFiles files;
  const std::string longer(3 * kBlock, 'x');
  files.write("t.txt",
              "\xEF\xBB\xBF"
              "a b\r\n\n" +
                  longer + "\nlast");
  TextLinesReader reader(files.path("t.txt"));
  std::string_view line;
  std::vector<std::string> lines;
  while (reader.next(line)) lines.emplace_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{"a b", "", longer, "last"}));
  EXPECT_EQ(reader.line_number(), 4);
  EXPECT_FALSE(reader.next(line));
}

TEST(TextBlocks, NothingButAMarkIsNothing) {
  const DatasetFiles files;
  for (const std::string text : {"", "\xEF\xBB\xBF"}) {
    files.write("t.txt", text);
    TextBlocks blocks(files.path("t.txt"));
    EXPECT_EQ(blocks.next(), "");
    EXPECT_EQ(blocks.next(), "");
  }
}

TEST(TextBlocks, MayBeLeftInTheMiddle) {
  const DatasetFiles files;
  std::string text;
  while (text.size() < 20 * kBlock) text += "0123456789abcde\n";
  files.write("t.txt", text);
  for (int blocks_read = 0; blocks_read < 3; ++blocks_read) {
    TextBlocks blocks(files.path("t.txt"));
    for (int k = 0; k < blocks_read; ++k) EXPECT_TRUE(blocks.next().ends_with('\n'));
  }
}

TEST(ReadText, HasALimit) {
  const DatasetFiles files;
  files.write("t.txt", gzip(std::string(1000, 'x')));
  EXPECT_EQ(read_text(files.path("t.txt"), 1000), std::string(1000, 'x'));
  expect_error(ErrorKind::kData, {"t.txt", "999"}, [&] { read_text(files.path("t.txt"), 999); });
}

// superpixels

TEST(Superpixels, BytesBecomeColoursAndPlaces) {
  const DatasetFiles files;
  files.make_molecules();
  files.write("dataset.json", R"({"task": "graph-classification", "num_classes": 10})");
  files.write("raw/graph-label.csv", "0\n9\n3\n");
  std::string bytes;
  for (int k = 0; k < 9; ++k)
    bytes += std::string("\xff\x00\x33", 3) + std::string("\x80") + static_cast<char>(16 * k);
  files.write("raw/node-feat.u8.gz", gzip(bytes));
  const Dataset d = parse(files);
  EXPECT_NO_THROW(check_dataset(d, "test"));
  EXPECT_EQ(d.info.node_features, FeatureKind::kFloat);
  EXPECT_EQ(to_vector(d.node_features.floats.row(1)), (Floats{1, 0, 0.2F, 0.5, 0.0625}));
  EXPECT_EQ(to_vector(d.first_edge), (Ids{0, 6, 8, 20}));  // n - 1 neighbours each
  EXPECT_EQ(to_vector(d.sample(0).edges), (Ints{0, 1, 0, 2, 1, 0, 1, 2, 2, 1, 2, 0}));
  EXPECT_EQ(to_vector(d.sample(1).edges), (Ints{0, 1, 1, 0}));
}

// The rule as it is written in the header, without any shortcut.
Ints naive_superpixel_edges(const Floats& xy) {
  const size_t n = xy.size() / 2;
  const size_t k = std::min<size_t>(8, n - 1);
  std::vector<std::vector<double>> d(n, std::vector<double>(n));
  std::vector<double> s(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      const double dy = double{xy[2 * i]} - xy[2 * j];
      const double dx = double{xy[2 * i + 1]} - xy[2 * j + 1];
      d[i][j] = std::sqrt(dy * dy + dx * dx);
    }
    std::vector<double> row = d[i];
    std::sort(row.begin(), row.end());
    for (size_t r = 0; r <= k; ++r) s[i] += row[r];
    s[i] = s[i] / static_cast<double>(k) + 1e-8;
  }
  Ints out;
  for (size_t i = 0; i < n; ++i) {
    std::vector<std::pair<double, int32_t>> nearest;
    for (size_t j = 0; j < n; ++j) {
      const double a = d[i][j] / s[i];
      const double b = d[i][j] / s[j];
      if (j != i)
        nearest.emplace_back(-(std::exp(-a * a) + std::exp(-b * b)) / 2, static_cast<int32_t>(j));
    }
    std::sort(nearest.begin(), nearest.end());
    for (size_t r = 0; r < k; ++r)
      out.insert(out.end(), {static_cast<int32_t>(i), nearest[r].second});
  }
  return out;
}

TEST(Superpixels, EdgesFollowTheRule) {
  Rng rng(13);
  for (const int64_t n : {2, 3, 8, 9, 10, 40, 150})
    for (const uint32_t grid : {4U, 256U}) {  // many ties, few ties
      Floats xy(static_cast<size_t>(2 * n));
      for (float& v : xy) v = static_cast<float>(rng.below(grid)) / 256;
      Ints got;
      append_superpixel_edges(xy, got);
      EXPECT_TRUE(got == naive_superpixel_edges(xy)) << n << " nodes on a grid of " << grid;
    }
}

TEST(Superpixels, AllInOnePlaceOrAlone) {
  Ints edges;
  append_superpixel_edges(Floats{0.5, 0.5}, edges);
  EXPECT_TRUE(edges.empty());
  append_superpixel_edges(Floats(24, 0.5F), edges);  // twelve nodes: the lowest ids win
  ASSERT_EQ(edges.size(), 2U * 12 * 8);
  EXPECT_EQ((Ints{edges.begin(), edges.begin() + 16}),
            (Ints{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8}));
}

TEST(Summary, CountsAndStatistics) {
  const DatasetFiles files;
  files.make_molecules();
  files.write("raw/graph-label.csv", "0.5\nnan\n3.5\n");
  const Summary s = summarize(parse(files));
  EXPECT_EQ(s.graphs, 3);
  EXPECT_EQ(s.nodes, 9);
  EXPECT_EQ(s.edges, 8);
  EXPECT_EQ(s.graph_nodes.min, 2);
  EXPECT_EQ(s.graph_nodes.max, 4);
  EXPECT_EQ(s.graph_edges.mean, 8.0 / 3);
  EXPECT_EQ(s.features, 2);
  EXPECT_EQ(s.labels.items, 3);
  EXPECT_EQ(s.labels.labelled, 2);
  EXPECT_EQ(s.labels.mean, 2);
  EXPECT_EQ(s.labels.std, 1.5);
  EXPECT_EQ(s.labels.max, 3.5);
  EXPECT_EQ(s.parts[1].labelled, 0);
}

TEST(ReadDataset, SignsAreNoClasses) {
  const DatasetFiles files;
  files.make_molecules();
  files.remove("dataset.json");
  files.write("raw/graph-label.csv", "1\n-1\n1\n");
  testing::expect_error(ErrorKind::kData, {"raw/graph-label.csv", "use 0", "dataset.json"},
                        [&] { parse(files); });
  files.write("raw/graph-label.csv", "1\n-7\n1\n");
  EXPECT_EQ(parse(files).info.task, Task::kGraphRegression);
}

TEST(ReadDataset, FloatFeaturesOfEdgesStayFloats) {
  const DatasetFiles files;
  files.make_molecules();
  Dataset d = parse(files);
  d.edge_features = {};
  d.edge_features.floats = {std::vector<float>(static_cast<size_t>(d.num_edges()), 2.F), 1};
  d.info.edge_features = FeatureKind::kFloat;
  d.info.edge_categories.clear();
  const std::filesystem::path out = files.path("written");
  write_dataset(d, out);
  const Dataset again = read_dataset(out, {.cache = false});
  EXPECT_EQ(again.edge_features.floats.rows(), d.num_edges());
  EXPECT_TRUE(again.edge_features.categories.empty());
}

// What reading refuses with file and line, made in memory.
TEST(CheckDataset, RefusesWhatReadingRefuses) {
  const DatasetFiles files;
  files.make_molecules();
  const Dataset good = parse(files);
  EXPECT_NO_THROW(check_dataset(good, "good"));
  const auto refused = [&](const char* part, auto&& change) {
    Dataset d = good;
    change(d);
    testing::expect_error(ErrorKind::kData, {"made", part}, [&] { check_dataset(d, "made"); });
  };
  const auto first_changed = [](auto values, auto value) {
    auto out = to_vector(values);
    out[0] = value;
    return out;
  };
  refused("edge", [&](Dataset& d) { d.edges.values = first_changed(d.edges.values, 99); });
  refused("two ends", [&](Dataset& d) { d.edges.columns = 1; });
  refused("category", [&](Dataset& d) {
    auto& x = d.node_features.categories.values;
    x = first_changed(x, 1000);
  });
  refused("label", [&](Dataset& d) {
    d.labels.values.values = first_changed(d.labels.values.values, INFINITY);
  });
  refused("node_targets", [&](Dataset& d) { d.node_targets = {std::vector<float>{1}, 1}; });
  refused("node_is_attributed",
          [&](Dataset& d) { d.node_is_attributed = std::vector<uint8_t>{1}; });
  refused("id", [&](Dataset& d) { d.splits[0].train = std::vector<int64_t>{int64_t{1} << 40}; });
}

}  // namespace
}  // namespace egc::data
