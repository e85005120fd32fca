// Damaged datasets: every one is refused as wrong data, in one line that names the place, and no
// claim of a file is believed before its data are there.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <functional>

#include "egc/core/error.h"
#include "egc/data/raw/read_dataset.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;
using testing::DatasetFiles;
using testing::difference;
using testing::gzip;
using testing::npy;
using Files = const DatasetFiles&;
using Make = void (DatasetFiles::*)() const;

// No more address space than there is and this much: a claim believed fails here, not the machine.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t more) {
    getrlimit(RLIMIT_AS, &before_);
    std::ifstream file("/proc/self/statm");
    rlim_t pages = 0;
    file >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * 4096 + more;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

void expect_refused(const fs::path& dir, const std::vector<std::string>& fragments) {
  constexpr rlim_t kMemory = 512 << 20;
  constexpr std::chrono::seconds kLong{5};
  const auto begin = std::chrono::steady_clock::now();
  try {
    const MemoryLimit limit(kMemory);
    read_dataset(dir, {.cache = false});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::kData)) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& fragment : fragments)
      EXPECT_NE(message.find(fragment), std::string::npos)
          << '"' << fragment << "\" in: " << message;
  } catch (const std::exception& e) {
    ADD_FAILURE() << "not an egc::Error: " << e.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
}

struct Bad {
  const char* name;
  Make make;
  std::function<void(Files)> damage;
  std::vector<std::string> fragments;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

std::function<void(Files)> write(const char* name, std::string bytes) {
  return [name, bytes = std::move(bytes)](Files f) { f.write(name, bytes); };
}

std::function<void(Files)> replace(const char* name, const char* from, const char* to) {
  return [=](Files f) { f.replace(name, from, to); };
}

std::function<void(Files)> remove(const char* name) {
  return [=](Files f) { f.remove(name); };
}

std::function<void(Files)> append(const char* name, const char* text) {
  return [=](Files f) { f.append(name, text); };
}

// node-feat.npy instead of the table.
std::function<void(Files)> with_npy(std::string bytes) {
  return [bytes = std::move(bytes)](Files f) {
    f.remove("raw/node-feat.csv");
    f.write("raw/node-feat.npy", bytes);
  };
}

// Two floats of each edge, of which the second one of edge 1 is `value`.
std::function<void(Files)> float_edge_features(const char* value) {
  return [=](Files f) {
    f.replace("dataset.json", "\"edge_categories\": [3]", "\"edge_features\": \"float\"");
    std::string text = "0.5,1\n0.5," + std::string(value) + "\n";
    for (int k = 2; k < 8; ++k) text += "0.5,1\n";
    f.write("raw/edge-feat.csv", text);
  };
}

// Folds as benchmarking-gnns has them.
std::function<void(Files)> with_index(const char* train, const char* val, const char* test) {
  return [=](Files f) {
    f.remove("split/random");
    f.write("split/random/train.index", train);
    f.write("split/random/val.index", val);
    f.write("split/random/test.index", test);
  };
}

// Some file as gzip, changed by `spoil`.
std::function<void(Files)> with_gzip(const char* name, void (*spoil)(std::string&)) {
  return [=](Files f) {
    std::string packed = gzip(f.read(name));
    spoil(packed);
    f.remove(name);
    f.write(std::string(name) + ".gz", packed);
  };
}

const std::string kFloats10 = bytes_of(std::vector<float>(10, 1.0F));

std::string floats10_with(float value) {
  std::vector<float> values(10, 1.0F);
  values[7] = value;
  return bytes_of(values);
}

std::vector<Bad> bad_inputs() {
  constexpr Make kMolecules = &DatasetFiles::make_molecules;
  constexpr Make kCitations = &DatasetFiles::make_citations;
  constexpr Make kAuthors = &DatasetFiles::make_authors;
  constexpr Make kRelations = &DatasetFiles::make_relations;
  constexpr Make kCode = &DatasetFiles::make_code;
  const std::string writes = "raw/relations/author___writes___paper/";
  return {
      // rows and fields
      {"EdgeWithOneColumn",
       kMolecules,
       replace("raw/edge.csv", "2,0\n", "2\n"),
       {"raw/edge.csv:3: ", "expected 2 columns, found 1"}},
      {"EdgeWithThreeColumns",
       kMolecules,
       replace("raw/edge.csv", "2,0\n", "2,0,1\n"),
       {"raw/edge.csv:3: ", "expected 2 columns", "more"}},
      {"EdgeWithTrailingComma",
       kMolecules,
       replace("raw/edge.csv", "0,1\n", "0,1,\n"),
       {"raw/edge.csv:1: ", "expected 2 columns"}},
      {"FeaturesRaggedShort",
       kCitations,
       replace("raw/node-feat.csv", "1.5,-2", "1.5"),
       {"raw/node-feat.csv:2: ", "expected 2 columns, found 1"}},
      {"FeaturesRaggedLong",
       kCitations,
       replace("raw/node-feat.csv", "4.5,1", "4.5,1,1"),
       {"raw/node-feat.csv:5: ", "expected 2 columns"}},
      {"FirstRowIsTheNarrowOne",
       kMolecules,
       replace("raw/node-feat.csv", "0,1\n", "0\n"),
       {"raw/node-feat.csv:2: ", "expected 1 column"}},
      {"LabelWithTwoColumns",
       kCitations,
       replace("raw/node-label.csv", "2\n", "2,0\n"),
       {"raw/node-label.csv:3: ", "column"}},
      {"ClassesInTwoColumns",
       kMolecules,
       [](Files f) {
         f.replace("dataset.json", "graph-regression", "graph-classification");
         f.write("raw/graph-label.csv", "0,1\n1,0\n0,0\n");
       },
       {"raw/graph-label.csv", "expected one column", "found 2"}},
      {"HeaderLine",
       kMolecules,
       [](Files f) { f.write("raw/edge.csv", "source,target\n" + f.read("raw/edge.csv")); },
       {"raw/edge.csv:1: ", "column 1", "\"source\""}},
      {"TextAmongFloats",
       kCitations,
       replace("raw/node-feat.csv", "3e2", "3e2x"),
       {"raw/node-feat.csv:3: ", "column 2", "\"3e2x\""}},
      {"TextAmongLabels",
       kMolecules,
       replace("raw/graph-label.csv", "-1.25", "abc"),
       {"raw/graph-label.csv:2: ", "\"abc\""}},
      {"EmptyFieldAmongFloats",
       kCitations,
       replace("raw/node-feat.csv", "2.5,3e2", ",3e2"),
       {"raw/node-feat.csv:3: ", "column 1"}},
      {"TwoSigns",
       kCitations,
       replace("raw/node-feat.csv", "1.5,-2", "1.5,+-2"),
       {"raw/node-feat.csv:2: ", "column 2", "\"+-2\""}},
      {"TwoNumbersInAField",
       kCitations,
       replace("raw/node-feat.csv", "2.5,3e2", "2.5 1,3e2"),
       {"raw/node-feat.csv:3: ", "column 1"}},
      {"TabsForCommas",
       kMolecules,
       replace("raw/edge.csv", "0,1\n1,2", "0\t1\n1\t2"),
       {"raw/edge.csv:1: ", "column 1", "\"0 1\""}},
      {"NulByte",
       kMolecules,
       [](Files f) { f.write("raw/edge.csv", std::string("0,1\n1,\0002\n", 9)); },
       {"raw/edge.csv:2: ", "column 2"}},
      {"CarriageReturnsForNewlines",
       kMolecules,
       write("raw/num-node-list.csv", "3\r2\r4\r"),
       {"raw/num-node-list.csv:1: "}},
      {"TextAfterACarriageReturn",
       kMolecules,
       write("raw/graph-label.csv", "0.5\n\rabc\n3\n"),
       {"raw/graph-label.csv:2: "}},
      {"FloatId",
       kMolecules,
       replace("raw/edge.csv", "1,2", "1,1.5"),
       {"raw/edge.csv:2: ", "column 2", "integer", "\"1.5\""}},
      {"FloatCount",
       kMolecules,
       replace("raw/num-node-list.csv", "2\n", "2.5\n"),
       {"raw/num-node-list.csv:2: ", "integer", "\"2.5\""}},
      {"ExponentInAnId",
       kMolecules,
       replace("raw/edge.csv", "1,2", "1,1e0"),
       {"raw/edge.csv:2: ", "\"1e0\""}},
      {"IdOverThirtyTwoBits",
       kMolecules,
       replace("raw/edge.csv", "1,2", "1,99999999999"),
       {"raw/edge.csv:2: ", "column 2", "32-bit integer", "\"99999999999\""}},
      {"CategoryOverThirtyTwoBits",
       kMolecules,
       replace("raw/node-feat.csv", "1,0", "1,99999999999"),
       {"raw/node-feat.csv:2: ", "32-bit integer"}},
      {"CountOverSixtyFourBits",
       kMolecules,
       replace("raw/num-node-list.csv", "2\n", "99999999999999999999\n"),
       {"raw/num-node-list.csv:2: "}},
      {"LongFieldIsCutInTheMessage",
       kMolecules,
       write("raw/edge.csv", "0,1\n1," + std::string(1000, 'x') + "\n"),
       {"raw/edge.csv:2: ", std::string(40, 'x') + "..."}},
      {"BlankLineAmongEdges",
       kMolecules,
       replace("raw/edge.csv", "2,0\n", "\n2,0\n"),
       {"raw/edge.csv:3: ", "empty line"}},
      {"BlanksOnlyAmongCounts",
       kMolecules,
       replace("raw/num-node-list.csv", "2\n", "  \r\n2\n"),
       {"raw/num-node-list.csv:2: ", "empty line"}},
      {"BlankLineInASplit",
       kCitations,
       write("split/time/train.csv", "0\n\n\n4\n"),
       {"split/time/train.csv:2: ", "empty line"}},
      // values
      {"Infinity",
       kCitations,
       replace("raw/node-feat.csv", "3e2", "inf"),
       {"raw/node-feat.csv:3: ", "column 2", "finite", "\"inf\""}},
      {"Nan",
       kCitations,
       replace("raw/node-feat.csv", "2.5", "nan"),
       {"raw/node-feat.csv:3: ", "column 1", "finite", "\"nan\""}},
      {"FloatTooLarge",
       kCitations,
       replace("raw/node-feat.csv", "3e2", "1e39"),
       {"raw/node-feat.csv:3: ", "finite", "\"1e39\""}},
      {"InfiniteLabel",
       kMolecules,
       replace("raw/graph-label.csv", "-1.25", "-inf"),
       {"raw/graph-label.csv:2: ", "\"-inf\""}},
      {"NegativeCategory",
       kMolecules,
       replace("raw/node-feat.csv", "2,1", "-2,1"),
       {"raw/node-feat.csv:3: column 1", "[0, 3)", "got -2"}},
      {"NegativeCategoryOfUnknownNumber",
       kMolecules,
       [](Files f) {
         f.remove("dataset.json");
         f.replace("raw/node-feat.csv", "2,1", "-2,1");
       },
       {"raw/node-feat.csv:3: column 1", "got -2"}},
      {"CategoryTooLarge",
       kMolecules,
       replace("raw/node-feat.csv", "1,1", "1,2"),
       {"raw/node-feat.csv:5: column 2", "[0, 2)", "got 2"}},
      {"MoreEdgeFeaturesThanEdges",
       kMolecules,
       append("raw/edge-feat.csv", "3\n"),
       {"raw/edge-feat.csv:9: ", "expected 8 lines"}},
      {"FewerEdgeFeaturesThanEdges",
       kMolecules,
       replace("raw/edge-feat.csv", "2\n0\n1\n2\n", "2\n"),
       {"raw/edge-feat.csv", "expected 8 lines, one for each of the edges", "found 5"}},
      {"EdgeFeaturesOfTwoWidths",
       kMolecules,
       replace("raw/edge-feat.csv", "2\n0\n", "2,1\n0\n"),
       {"raw/edge-feat.csv:3: ", "expected 1 column, found more"}},
      {"EdgeFeatureEmpty",
       kMolecules,
       replace("raw/edge-feat.csv", "2\n0\n", "\n0\n"),
       {"raw/edge-feat.csv:3: ", "empty line"}},
      {"EdgeCategoryNegative",
       kMolecules,
       replace("raw/edge-feat.csv", "2\n0\n", "-2\n0\n"),
       {"raw/edge-feat.csv:3: column 1", "[0, 3)", "got -2"}},
      {"EdgeCategoryFractional",
       kMolecules,
       replace("raw/edge-feat.csv", "2\n0\n", "1.5\n0\n"),
       {"raw/edge-feat.csv:3: column 1", "a 32-bit integer", "\"1.5\""}},
      {"EdgeCategoryNan",
       kMolecules,
       replace("raw/edge-feat.csv", "2\n0\n", "nan\n0\n"),
       {"raw/edge-feat.csv:3: column 1", "a 32-bit integer", "\"nan\""}},
      {"EdgeCategoriesOfAnotherNumber",
       kMolecules,
       replace("dataset.json", "\"edge_categories\": [3]", "\"edge_categories\": [3, 2]"),
       {"raw/edge-feat.csv", "expected 2 columns", "found 1"}},
      {"EdgeFloatNan",
       kMolecules,
       float_edge_features("nan"),
       {"raw/edge-feat.csv:2: column 2", "a finite number", "\"nan\""}},
      {"EdgeFloatInfinite",
       kMolecules,
       float_edge_features("-inf"),
       {"raw/edge-feat.csv:2: column 2", "a finite number", "\"-inf\""}},
      {"EdgeFloatEmpty",
       kMolecules,
       float_edge_features(""),
       {"raw/edge-feat.csv:2: column 2", "a finite number", "\"\""}},
      {"EdgeFloatText",
       kMolecules,
       float_edge_features("far"),
       {"raw/edge-feat.csv:2: column 2", "a finite number", "\"far\""}},
      {"EdgeFloatsMissing",
       kMolecules,
       float_edge_features("1,2"),
       {"raw/edge-feat.csv:2: ", "expected 2 columns, found more"}},
      {"EdgeFeaturesNotThere",
       kMolecules,
       [](Files f) {
         f.remove("raw/edge-feat.csv");
         f.replace("dataset.json", "\"edge_categories\"",
                   "\"edge_features\": \"categorical\", \"edge_categories\"");
       },
       {"raw/edge-feat.csv.gz: not found", "categorical features"}},
      {"MoreEdgeWeightsThanEdges",
       kMolecules,
       write("raw/edge-weight.csv", "1\n1\n1\n1\n1\n1\n1\n1\n1\n"),
       {"raw/edge-weight.csv:9: ", "expected 8 lines, one for each of the edges"}},
      {"FewerEdgeWeightsThanEdges",
       kMolecules,
       write("raw/edge-weight.csv", "1\n1\n"),
       {"raw/edge-weight.csv", "expected 8 lines", "found 2"}},
      {"EdgeWeightNan",
       kMolecules,
       write("raw/edge-weight.csv", "1\n1\nnan\n1\n1\n1\n1\n1\n"),
       {"raw/edge-weight.csv:3: column 1", "a finite number", "\"nan\""}},
      {"EdgeWeightEmpty",
       kMolecules,
       write("raw/edge-weight.csv", "1\n1\n\n1\n1\n1\n1\n1\n"),
       {"raw/edge-weight.csv:3: ", "empty line"}},
      {"EdgeWeightTooLarge",
       kMolecules,
       write("raw/edge-weight.csv", "1\n1e39\n1\n1\n1\n1\n1\n1\n"),
       {"raw/edge-weight.csv:2: column 1", "\"1e39\""}},
      {"TwoWeightsOfAnEdge",
       kMolecules,
       write("raw/edge-weight.csv", "1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n"),
       {"raw/edge-weight.csv: ", "expected 1 column", "found 2"}},
      {"TwoWeightsOfAnUndirectedEdge",
       kCitations,
       write("raw/edge-weight.csv", "1\n2\n3\n4\n1.5\n6\n"),
       {"raw/edge-weight.csv:5: ", "weight 1.5", "line 1", "weight is 1;"}},
      {"EdgeWeightsNotThere",
       kMolecules,
       replace("dataset.json", "{", R"({"edge_weight": "w", )"),
       {"raw/edge-weight.csv.gz: not found", "edge_weight"}},
      {"EdgeWeightsOfSyntaxTrees",
       kCode,
       write("raw/edge-weight.csv", "1\n1\n1\n"),
       {"raw/edge-weight.csv: ", "syntax trees"}},
      {"EdgeFeaturesOfTypes",
       kAuthors,
       replace("dataset.json", "\"num_classes\"", "\"edge_features\": \"float\", \"num_classes\""),
       {"dataset.json: ", "several node types or relations", "features or weights of edges"}},
      {"EdgeCategoryBeyondTheNumber",
       kMolecules,
       replace("raw/edge-feat.csv", "2\n0\n", "3\n0\n"),
       {"raw/edge-feat.csv:3: column 1", "[0, 3)", "got 3"}},
      {"TooFewCategories",
       kMolecules,
       replace("dataset.json", "[3, 2]", "[3]"),
       {"raw/node-feat.csv", "expected 1 columns", "categories", "found 2"}},
      {"TooManyCategories",
       kMolecules,
       replace("dataset.json", "[3, 2]", "[3, 2, 9]"),
       {"raw/node-feat.csv", "expected 3 columns", "categories", "found 2"}},
      {"FloatsWhereCategoriesArePromised",
       kMolecules,
       replace("raw/node-feat.csv", "2,1", "2,.5"),
       {"raw/node-feat.csv:3: column 2", "\".5\""}},
      {"ClassTooLarge",
       kCitations,
       replace("raw/node-label.csv", "2\n", "3\n"),
       {"raw/node-label.csv:3: ", "[0, 3)", "got 3"}},
      {"ClassBelowMinusOne",
       kCitations,
       replace("raw/node-label.csv", "2\n", "-2\n"),
       {"raw/node-label.csv:3: ", "got -2"}},
      {"FractionalClass",
       kCitations,
       replace("raw/node-label.csv", "2\n", "1.5\n"),
       {"raw/node-label.csv:3: ", "got 1.5"}},
      {"HugeClass",
       kCitations,
       [](Files f) {
         f.replace("dataset.json", "\"num_classes\": 3,", "");
         f.replace("raw/node-label.csv", "2\n", "1e30\n");
       },
       {"raw/node-label.csv:3: ", "got 1e+30"}},
      {"BinaryLabelOfTwo",
       kMolecules,
       [](Files f) {
         f.replace("dataset.json", "graph-regression", "graph-binary");
         f.write("raw/graph-label.csv", "0,1\n1,\n0,2\n");
       },
       {"raw/graph-label.csv:3: ", "got 2"}},
      // ids
      {"NegativeId",
       kMolecules,
       replace("raw/edge.csv", "1,2", "1,-1"),
       {"raw/edge.csv:2: ", "[0, 3)", "graph 0", "1,-1"}},
      {"IdOfTheNextGraph",
       kMolecules,
       replace("raw/edge.csv", "2,0", "2,3"),
       {"raw/edge.csv:3: ", "[0, 3)", "graph 0", "2,3"}},
      {"IdTooLargeForItsGraphOnly",
       kMolecules,
       replace("raw/edge.csv", "1,0", "2,0"),
       {"raw/edge.csv:4: ", "[0, 2)", "graph 1", "2,0"}},
      {"IdOfTheOnlyGraph",
       kCitations,
       replace("raw/edge.csv", "3,4", "3,5"),
       {"raw/edge.csv:4: ", "[0, 5)", "3,5"}},
      // counts that disagree
      {"FewerEdgesThanCounted",
       kMolecules,
       replace("raw/edge.csv", "3,3\n", ""),
       {"raw/edge.csv", "expected 8 lines", "num-edge-list", "found 7"}},
      {"MoreEdgesThanCounted",
       kMolecules,
       append("raw/edge.csv", "0,0\n"),
       {"raw/edge.csv:9: ", "expected 8 lines", "num-edge-list"}},
      {"FewerFeaturesThanNodes",
       kMolecules,
       replace("raw/node-feat.csv", "2,1\n", ""),
       {"raw/node-feat.csv", "expected 9 lines", "nodes", "found 8"}},
      {"MoreFeaturesThanNodes",
       kMolecules,
       append("raw/node-feat.csv", "0,0\n"),
       {"raw/node-feat.csv:10: ", "expected 9 lines", "nodes"}},
      {"FewerLabelsThanGraphs",
       kMolecules,
       replace("raw/graph-label.csv", "3\n", ""),
       {"raw/graph-label.csv", "expected 3 lines", "graphs", "found 2"}},
      {"MoreLabelsThanGraphs",
       kMolecules,
       append("raw/graph-label.csv", "1\n"),
       {"raw/graph-label.csv:4: ", "expected 3 lines", "graphs"}},
      {"FewerLabelsThanNodes",
       kCitations,
       replace("raw/node-label.csv", "2\n", ""),
       {"raw/node-label.csv", "expected 5 lines", "nodes", "found 4"}},
      {"FewerEdgeCountsThanGraphs",
       kMolecules,
       replace("raw/num-edge-list.csv", "4\n", ""),
       {"raw/num-edge-list.csv", "expected 3 lines", "found 2"}},
      {"MoreEdgeCountsThanGraphs",
       kMolecules,
       append("raw/num-edge-list.csv", "0\n"),
       {"raw/num-edge-list.csv", "expected 3 lines", "found 4"}},
      {"NegativeNodeCount",
       kMolecules,
       replace("raw/num-node-list.csv", "2\n", "-2\n"),
       {"raw/num-node-list.csv:2: ", "nodes", "-2"}},
      {"NegativeEdgeCount",
       kMolecules,
       replace("raw/num-edge-list.csv", "1\n", "-1\n"),
       {"raw/num-edge-list.csv:2: ", "edges", "-1"}},
      {"FewerTokensThanGraphs",
       kCode,
       write("raw/graph-label.csv", "get name\n"),
       {"raw/graph-label.csv", "expected 2 lines", "found 1"}},
      {"MoreTokensThanGraphs",
       kCode,
       append("raw/graph-label.csv", "b\n"),
       {"raw/graph-label.csv:3: ", "expected 2 lines"}},
      {"NumTargetsDisagrees",
       kMolecules,
       replace("dataset.json", "\"name\"", "\"num_targets\": 2, \"name\""),
       {"raw/graph-label.csv", "num_targets"}},
      // claims that nothing stands behind
      {"NodesOfTenToThe15",
       kMolecules,
       replace("raw/num-node-list.csv", "2\n", "1000000000000000\n"),
       {"raw/num-node-list.csv:2: ", "1000000000000000"}},
      {"EdgesOfTenToThe15",
       kMolecules,
       replace("raw/num-edge-list.csv", "1\n", "1000000000000000\n"),
       {"raw/num-edge-list.csv:2: ", "1000000000000000"}},
      {"NodesOfTenToThe12WithFeatures",
       kMolecules,
       replace("raw/num-node-list.csv", "2\n", "1000000000000\n"),
       {"raw/n"}},
      {"NodesOfTenToThe12WithoutFeatures",
       kMolecules,
       [](Files f) {
         f.remove("dataset.json");
         f.remove("raw/node-feat.csv");
         f.replace("raw/num-node-list.csv", "2\n", "1000000000000\n");
       },
       {"raw/num-node-list.csv:2: "}},
      {"EdgesOfTenToThe12",
       kMolecules,
       replace("raw/num-edge-list.csv", "4\n", "1000000000000\n"),
       {"raw/"}},
      {"NodesOfTenToThe12InOneGraph",
       kCitations,
       write("raw/num-node-list.csv", "1000000000000\n"),
       {"raw/n"}},
      {"NodesAddUpBeyondSixtyFourBits",
       kMolecules,
       [](Files f) {
         std::string all;
         for (int k = 0; k < 20; ++k) all += "1000000000000000000\n";
         f.write("raw/num-node-list.csv", all);
       },
       {"raw/num-node-list.csv:"}},
      // missing and empty files
      {"NoNodeCounts",
       kMolecules,
       remove("raw/num-node-list.csv"),
       {"raw/num-node-list.csv.gz: not found", "num-node-list.csv"}},
      {"NoEdgeCounts",
       kMolecules,
       remove("raw/num-edge-list.csv"),
       {"raw/num-edge-list.csv.gz: not found", "3 graphs"}},
      {"NoEdges", kMolecules, remove("raw/edge.csv"), {"raw/edge.csv.gz: not found", "edge.csv"}},
      {"NoGraphLabels",
       kMolecules,
       remove("raw/graph-label.csv"),
       {"raw/graph-label.csv.gz: not found"}},
      {"NoNodeLabels",
       kCitations,
       remove("raw/node-label.csv"),
       {"raw/node-label.csv.gz: not found"}},
      {"NoPromisedFeatures",
       kMolecules,
       remove("raw/node-feat.csv"),
       {"raw/node-feat.csv.gz: not found", "node-feat.npy", "categorical"}},
      {"NoDepths", kCode, remove("raw/node_depth.csv"), {"raw/node_depth.csv.gz: not found"}},
      {"NoTrain",
       kMolecules,
       remove("split/random/train.csv"),
       {"split/random/train.csv.gz: not found"}},
      {"NoTest",
       kMolecules,
       remove("split/random/test.csv"),
       {"split/random/test.csv.gz: not found"}},
      {"EmptyNodeCounts",
       kMolecules,
       write("raw/num-node-list.csv", ""),
       {"raw/num-node-list.csv"}},
      {"EmptyEdges",
       kMolecules,
       write("raw/edge.csv", ""),
       {"raw/edge.csv", "expected 8 lines", "found 0"}},
      {"EmptyFeatures",
       kMolecules,
       write("raw/node-feat.csv", "\n"),
       {"raw/node-feat.csv", "expected 9 lines", "found 0"}},
      {"EmptyLabels",
       kMolecules,
       write("raw/graph-label.csv", ""),
       {"raw/graph-label.csv", "expected 3 lines", "found 0"}},
      {"EdgesAreADirectory",
       kMolecules,
       [](Files f) {
         f.remove("raw/edge.csv");
         f.make_directory("raw/edge.csv");
       },
       {"raw/edge.csv", "regular file"}},
      // gzip
      {"GzipCutInTheMiddle",
       kMolecules,
       with_gzip("raw/edge.csv", [](std::string& g) { g.resize(g.size() / 2); }),
       {"raw/edge.csv.gz", "ends early"}},
      {"GzipCutBeforeItsChecksum",
       kMolecules,
       with_gzip("raw/edge.csv", [](std::string& g) { g.resize(g.size() - 8); }),
       {"raw/edge.csv.gz", "ends early"}},
      {"GzipWrongChecksum",
       kMolecules,
       with_gzip("raw/edge.csv", [](std::string& g) { g[g.size() - 8] ^= 1; }),
       {"raw/edge.csv.gz", "corrupt gzip data"}},
      {"GzipWrongLength",
       kMolecules,
       with_gzip("raw/edge.csv", [](std::string& g) { g[g.size() - 4] ^= 1; }),
       {"raw/edge.csv.gz", "corrupt gzip data"}},
      {"GzipSplitCut",
       kMolecules,
       with_gzip("split/random/train.csv", [](std::string& g) { g.resize(g.size() - 1); }),
       {"split/random/train.csv.gz", "ends early"}},
      {"GzipInGzip",
       kMolecules,
       with_gzip("raw/edge.csv", [](std::string& g) { g = gzip(g); }),
       {"raw/edge.csv.gz:1: ", "column 1"}},
      // splits
      {"EmptySplit",
       kMolecules,
       write("split/random/valid.csv", ""),
       {"split/random/valid.csv", "empty"}},
      {"EmptySplitFolder",
       kMolecules,
       [](Files f) { f.make_directory("split/other"); },
       {"split/other/train.csv.gz: not found"}},
      {"OverlappingSplits",
       kCitations,
       write("split/time/test.csv", "3\n4\n"),
       {"split/time/test.csv:2: id 4 is already in train"}},
      {"TestIsValid",
       kCitations,
       write("split/time/test.csv", "3\n2\n"),
       {"split/time/test.csv:2: id 2 is already in valid"}},
      {"IdTwiceInAPart",
       kCitations,
       write("split/time/train.csv", "0\n4\n0\n"),
       {"split/time/train.csv:3: id 0 is already in train"}},
      {"SplitIdTooLarge",
       kCitations,
       write("split/time/valid.csv", "5\n"),
       {"split/time/valid.csv:1: ", "[0, 5)", "got 5"}},
      {"SplitIdNegative",
       kCitations,
       write("split/time/valid.csv", "-1\n"),
       {"split/time/valid.csv:1: ", "[0, 5)", "got -1"}},
      {"SplitIdOfANodeWhereGraphsAreSplit",
       kMolecules,
       write("split/random/test.csv", "3\n"),
       {"split/random/test.csv:1: ", "[0, 3)", "got 3"}},
      {"SplitText",
       kCitations,
       write("split/time/valid.csv", "two\n"),
       {"split/time/valid.csv:1: ", "\"two\""}},
      {"FoldWithoutTest",
       kMolecules,
       [](Files f) { f.write("split/cv/train_idx-1.txt", "0\n"); },
       {"split/cv/test_idx-1.txt"}},
      {"FoldsOverlap",
       kMolecules,
       [](Files f) {
         f.write("split/cv/train_idx-1.txt", "0\n1\n");
         f.write("split/cv/test_idx-1.txt", "2\n1\n");
       },
       {"split/cv/test_idx-1.txt:2: id 1 is already in train"}},
      {"IndexText",
       kMolecules,
       with_index("0\n", "1\n", "2;0\n"),
       {"split/random/test.index:1: ", "\"2;0\""}},
      {"IndexIdTooLarge",
       kMolecules,
       with_index("0\n1\n", "1\n2\n", "2\n3\n"),
       {"split/random/test.index:2: ", "[0, 3)", "got 3"}},
      {"IndexFoldMissing",
       kMolecules,
       with_index("0\n1\n", "1\n2\n", "2\n"),
       {"split/random/test.index", "expected 2 lines", "found 1"}},
      {"IndexWithoutVal",
       kMolecules,
       [](Files f) {
         with_index("0\n", "1\n", "2\n")(f);
         f.remove("split/random/val.index");
       },
       {"split/random/val.index"}},
      {"IndexLineAfterABlankOne",
       kMolecules,
       with_index("0\n1\n", "1\n2\n", "2\n\n3\n"),
       {"split/random/test.index:3: ", "got 3"}},
      {"IndexFilesWithoutAFold", kMolecules, with_index("", "", ""), {"split/random/train.index"}},
      // dataset.json
      {"InfoIsNotJson",
       kMolecules,
       write("dataset.json", "task: graph-regression\n"),
       {"dataset.json", "invalid JSON"}},
      {"InfoIsCut",
       kMolecules,
       write("dataset.json", "{\n\"task\": \"graph-regression\"\n"),
       {"dataset.json", "invalid JSON"}},
      {"InfoIsEmpty", kMolecules, write("dataset.json", ""), {"dataset.json", "JSON"}},
      {"InfoIsAList", kMolecules, write("dataset.json", "[]"), {"dataset.json", "object"}},
      {"InfoNamesAKeyTwice",
       kMolecules,
       write("dataset.json", R"({"task": "graph-regression", "task": "graph-binary"})"),
       {"dataset.json", "duplicate key \"task\""}},
      {"InfoUnknownTask",
       kMolecules,
       replace("dataset.json", "graph-regression", "regression"),
       {"dataset.json", "\"task\"", "\"regression\"", "graph-regression"}},
      {"InfoUnknownMetric",
       kMolecules,
       write("dataset.json", R"({"metric": "mse"})"),
       {"dataset.json", "\"metric\"", "\"mse\"", "mae"}},
      {"InfoUnknownKindOfFeatures",
       kMolecules,
       replace("dataset.json", "categorical", "words"),
       {"dataset.json", "\"node_features\"", "\"words\"", "float"}},
      {"InfoTextForANumber",
       kCitations,
       replace("dataset.json", ": 3", ": \"3\""),
       {"dataset.json", "\"num_classes\"", "integer", "\"3\""}},
      {"InfoFractionalClasses",
       kCitations,
       replace("dataset.json", ": 3", ": 3.5"),
       {"dataset.json", "\"num_classes\"", "3.5"}},
      {"InfoNegativeClasses",
       kCitations,
       replace("dataset.json", ": 3", ": -3"),
       {"dataset.json", "\"num_classes\"", "-3"}},
      {"InfoHugeClasses",
       kCitations,
       replace("dataset.json", ": 3", ": 9223372036854775807"),
       {"dataset.json", "\"num_classes\"", "9223372036854775807"}},
      {"InfoNumberForABool",
       kCitations,
       replace("dataset.json", "true", "1"),
       {"dataset.json", "\"undirected\"", "true or false"}},
      {"InfoNoTargets",
       kMolecules,
       write("dataset.json", R"({"num_targets": 0})"),
       {"dataset.json", "\"num_targets\"", "0"}},
      {"InfoCategoriesOfZero",
       kMolecules,
       replace("dataset.json", "[3, 2]", "[3, 0]"),
       {"dataset.json", "\"categories\"", "0"}},
      {"InfoCategoriesAreANumber",
       kMolecules,
       replace("dataset.json", "[3, 2]", "3"),
       {"dataset.json", "\"categories\"", "list"}},
      {"InfoIsADirectory",
       kMolecules,
       [](Files f) {
         f.remove("dataset.json");
         f.make_directory("dataset.json");
       },
       {"dataset.json", "regular file"}},
      {"InfoIsTooLong",
       kMolecules,
       write("dataset.json", "{}" + std::string(3 << 20, ' ')),
       {"dataset.json", "longer"}},
      {"InfoHasANul",
       kMolecules,
       write("dataset.json", std::string("{}\0", 3)),
       {"dataset.json", "NUL"}},
      {"InfoNestedDeeply",
       kMolecules,
       write("dataset.json", std::string(100'000, '[')),
       {"dataset.json"}},
      {"TaskOnTypesForOneType",
       kAuthors,
       replace("dataset.json", "node-classification-hetero", "node-classification"),
       {"dataset.json", "node-classification-hetero"}},
      // npy
      {"NpyEmpty", kCitations, with_npy(""), {"raw/node-feat.npy", "not an npy file"}},
      {"NpyBadMagic",
       kCitations,
       with_npy("NUMPY" + npy("<f4", "(5, 2)", kFloats10)),
       {"raw/node-feat.npy", "not an npy file"}},
      {"NpyUnknownVersion",
       kCitations,
       [](Files f) {
         std::string bytes = npy("<f4", "(5, 2)", kFloats10);
         bytes[6] = 4;
         with_npy(bytes)(f);
       },
       {"raw/node-feat.npy", "version 4"}},
      {"NpyCutInItsHeader",
       kCitations,
       with_npy(npy("<f4", "(5, 2)", kFloats10).substr(0, 40)),
       {"raw/node-feat.npy", "inside its header"}},
      {"NpyHeaderLengthBeyondTheFile",
       kCitations,
       [](Files f) {
         std::string bytes = npy("<f4", "(5, 2)", kFloats10);
         bytes[8] = bytes[9] = '\xff';
         with_npy(bytes)(f);
       },
       {"raw/node-feat.npy", "inside its header"}},
      {"NpyCutInItsData",
       kCitations,
       with_npy(npy("<f4", "(5, 2)", kFloats10.substr(1))),
       {"raw/node-feat.npy", "5 x 2", "39 bytes"}},
      {"NpyLongerThanItsShape",
       kCitations,
       with_npy(npy("<f4", "(5, 2)", kFloats10 + "x")),
       {"raw/node-feat.npy", "5 x 2", "41 bytes"}},
      {"NpyFortranOrder",
       kCitations,
       with_npy(npy("<f4", "(5, 2)", kFloats10, "True")),
       {"raw/node-feat.npy", "fortran_order"}},
      {"NpyBigEndian",
       kCitations,
       with_npy(npy(">f4", "(5, 2)", kFloats10)),
       {"raw/node-feat.npy", "little-endian", ">f4"}},
      {"NpyText",
       kCitations,
       with_npy(npy("<U2", "(5,)", std::string(40, 'x'))),
       {"raw/node-feat.npy", "<U2"}},
      {"NpyObjects",
       kCitations,
       with_npy(npy("|O", "(5,)", std::string(40, 'x'))),
       {"raw/node-feat.npy", "|O"}},
      {"NpyWrongRows",
       kCitations,
       with_npy(npy("<f4", "(2, 5)", kFloats10)),
       {"raw/node-feat.npy", "expected 5 rows", "nodes", "found 2"}},
      {"NpyThreeDimensions",
       kCitations,
       with_npy(npy("<f4", "(5, 2, 1)", kFloats10)),
       {"raw/node-feat.npy", "one or two dimensions"}},
      {"NpyNoDimension",
       kCitations,
       with_npy(npy("<f4", "()", "1234")),
       {"raw/node-feat.npy", "one or two dimensions"}},
      {"NpyNegativeShape",
       kCitations,
       with_npy(npy("<f4", "(-5, -2)", kFloats10)),
       {"raw/node-feat.npy", "shape"}},
      // 2^62 rows of 4 columns of 4 bytes: modulo 2^64 they would be no bytes at all.
      {"NpyShapeOverflows",
       kCitations,
       with_npy(npy("<f4", "(4611686018427387904, 4)", "")),
       {"raw/node-feat.npy", "4611686018427387904 x 4"}},
      {"NpyShapeOver64Bits",
       kCitations,
       with_npy(npy("<f4", "(99999999999999999999, 4)", "")),
       {"raw/node-feat.npy", "shape"}},
      {"NpyNoColumns",
       kCitations,
       with_npy(npy("<f4", "(5, 0)", "")),
       {"raw/node-feat.npy", "rows"}},
      {"NpyNan",
       kCitations,
       with_npy(npy("<f4", "(5, 2)", floats10_with(NAN))),
       {"raw/node-feat.npy", "row 4", "column 2", "finite", "nan"}},
      {"NpyInfinity",
       kCitations,
       with_npy(npy("<f4", "(5, 2)", floats10_with(-INFINITY))),
       {"raw/node-feat.npy", "row 4", "column 2", "finite", "-inf"}},
      {"NpyDoubleBeyondFloats",
       kCitations,
       with_npy(npy("<f8", "(5,)", bytes_of(std::vector<double>{1, 2, 1e39, 3, 4}))),
       {"raw/node-feat.npy", "row 3", "finite"}},
      {"NpyKeyMissing",
       kCitations,
       [](Files f) {
         std::string bytes = npy("<f4", "(5, 2)", kFloats10);
         bytes.replace(bytes.find("shape"), 5, "shale");
         with_npy(bytes)(f);
       },
       {"raw/node-feat.npy", "descr, fortran_order and shape"}},
      {"NpyFloatsWhereCategoriesArePromised",
       kMolecules,
       with_npy(npy("<f4", "(9,)", bytes_of(std::vector<float>(9)))),
       {"raw/node-feat.npy", "integers"}},
      {"NpyCategoryTooLarge",
       kMolecules,
       with_npy(npy(
           "<i8", "(9, 2)",
           bytes_of(std::vector<int64_t>{0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}))),
       {"raw/node-feat.npy", "column 2", "[0, 2)", "got 2"}},
      {"NpyCategoryOverThirtyTwoBits",
       kMolecules,
       with_npy(npy("<i8", "(9,)", bytes_of(std::vector<int64_t>(9, int64_t{1} << 32)))),
       {"raw/node-feat.npy", "32 bits", "4294967296"}},
      // several types
      {"TypesMissing",
       kAuthors,
       remove("raw/num-node-dict.csv"),
       {"raw/num-node-dict.csv.gz: not found"}},
      {"TypesEmpty", kAuthors, write("raw/num-node-dict.csv", ""), {"raw/num-node-dict.csv"}},
      {"TypesWithoutCounts",
       kAuthors,
       write("raw/num-node-dict.csv", "paper,author\n"),
       {"raw/num-node-dict.csv", "second line"}},
      {"TypesAndCountsDisagree",
       kAuthors,
       replace("raw/num-node-dict.csv", "3,2", "3,2,1"),
       {"raw/num-node-dict.csv:2: ", "expected 2", "found 3"}},
      {"TypeCountIsText",
       kAuthors,
       replace("raw/num-node-dict.csv", "3,2", "3,two"),
       {"raw/num-node-dict.csv:2: column 2", "\"two\""}},
      {"TypeCountIsNegative",
       kAuthors,
       replace("raw/num-node-dict.csv", "3,2", "3,-2"),
       {"raw/num-node-dict.csv:2: column 2", "-2"}},
      {"TypeCountIsHuge",
       kAuthors,
       replace("raw/num-node-dict.csv", "3,2", "3,1000000000000000"),
       {"raw/num-node-dict.csv:2: column 2", "1000000000000000"}},
      {"TypeTwice",
       kAuthors,
       write("raw/num-node-dict.csv", "paper,author,paper\n3,2,3\n"),
       {"raw/num-node-dict.csv", "paper"}},
      {"TypeWithoutAName",
       kAuthors,
       write("raw/num-node-dict.csv", "paper,,author\n3,4,2\n"),
       {"raw/num-node-dict.csv"}},
      {"TypeWithADot",
       kAuthors,
       write("raw/num-node-dict.csv", "paper,a.b,author\n3,4,2\n"),
       {"raw/num-node-dict.csv", "a.b"}},
      {"TypeFeaturesDisagree",
       kAuthors,
       replace("raw/num-node-dict.csv", "3,2", "4,2"),
       {"raw/node-feat/paper/node-feat.csv", "expected 4 lines", "found 3"}},
      {"TypeLabelsDisagree",
       kAuthors,
       append("raw/node-label/paper/node-label.csv", "1\n"),
       {"raw/node-label/paper/node-label.csv:4: ", "expected 3 lines"}},
      {"RelationOfAnUnknownType",
       kAuthors,
       [](Files f) {
         f.remove("raw/triplet-type-list.csv");
         f.write("raw/relations/author___in___town/edge.csv", "0,0\n");
       },
       {"author___in___town", "\"town\"", "author, paper"}},
      {"RelationOfTwoWords",
       kAuthors,
       append("raw/triplet-type-list.csv", "author,paper\n"),
       {"raw/triplet-type-list.csv:3: ", "found 2"}},
      {"RelationTwice",
       kAuthors,
       append("raw/triplet-type-list.csv", "paper,cites,paper\n"),
       {"raw/triplet-type-list.csv", "cites"}},
      {"RelationWithoutAFolder",
       kAuthors,
       append("raw/triplet-type-list.csv", "author,knows,author\n"),
       {"raw/relations/author___knows___author/edge.csv.gz: not found"}},
      {"RelationFolderMisnamed",
       kAuthors,
       [](Files f) {
         f.remove("raw/triplet-type-list.csv");
         f.make_directory("raw/relations/author_writes");
       },
       {"raw/relations/author_writes", "head___relation___tail"}},
      {"NoRelations",
       kAuthors,
       [](Files f) {
         f.remove("raw/triplet-type-list.csv");
         f.remove("raw/relations");
         f.make_directory("raw/relations");
       },
       {"raw/relations", "at least one"}},
      {"RelationSourceTooLarge",
       kAuthors,
       [=](Files f) { f.replace(writes + "edge.csv", "1,2", "2,2"); },
       {writes + "edge.csv:2: ", "[0, 2)", "2,2"}},
      {"RelationTargetTooLarge",
       kAuthors,
       [=](Files f) { f.replace(writes + "edge.csv", "1,2", "1,3"); },
       {writes + "edge.csv:2: ", "[0, 3)", "1,3"}},
      {"RelationNegativeNode",
       kAuthors,
       [=](Files f) { f.replace(writes + "edge.csv", "1,2", "-1,2"); },
       {writes + "edge.csv:2: ", "-1,2"}},
      {"RelationEdgesDisagree",
       kAuthors,
       [=](Files f) { f.write(writes + "num-edge-list.csv", "2\n"); },
       {writes + "edge.csv:3: ", "expected 2 lines", "num-edge-list"}},
      {"NoTypeHasLabels", kAuthors, remove("raw/node-label"), {"raw/node-label", "found 0"}},
      {"TwoTypesHaveLabels",
       kAuthors,
       [](Files f) { f.write("raw/node-label/author/node-label.csv", "0\n1\n"); },
       {"raw/node-label", "found 2"}},
      {"LabelsOfAnUnknownType",
       kAuthors,
       [](Files f) {
         f.remove("raw/node-label");
         f.write("raw/node-label/town/node-label.csv", "0\n");
       },
       {"raw/node-label", "\"town\""}},
      {"TypeClassTooLarge",
       kAuthors,
       [](Files f) { f.replace("raw/node-label/paper/node-label.csv", "1\n", "2\n"); },
       {"raw/node-label/paper/node-label.csv:2: ", "[0, 2)", "got 2"}},
      {"TypeSplitIdTooLarge",
       kAuthors,
       write("split/time/paper/test.csv", "3\n"),
       {"split/time/paper/test.csv:1: ", "[0, 3)", "got 3"}},
      {"RelationIdNegative",
       kRelations,
       replace("raw/edge_reltype.csv", "2\n", "-1\n"),
       {"raw/edge_reltype.csv:2: ", "got -1"}},
      {"RelationIdHuge",
       kRelations,
       replace("raw/edge_reltype.csv", "2\n", "2147483647\n"),
       {"raw/edge_reltype.csv:2: ", "got 2147483647"}},
      {"RelationIdsDisagree",
       kRelations,
       replace("raw/edge_reltype.csv", "2\n", ""),
       {"raw/edge_reltype.csv", "expected 4 lines", "edges", "found 3"}},
      {"RelationIdsMissing",
       kRelations,
       remove("raw/edge_reltype.csv"),
       {"raw/edge_reltype.csv.gz: not found"}},
      {"RelationsOfTwoGraphs",
       kRelations,
       append("raw/num-node-list.csv", "4\n"),
       {"raw/num-node-list.csv", "one graph", "found 2"}},
      {"RelationNodeTooLarge",
       kRelations,
       replace("raw/edge.csv", "2,3", "2,4"),
       {"raw/edge.csv:3: ", "[0, 4)", "2,4"}},
      {"RelationNodesOfTenToThe12",
       kRelations,
       write("raw/num-node-list.csv", "1000000000000\n"),
       {"raw/n"}},
      // code
      {"AttributedIsTwo",
       kCode,
       replace("raw/node_is_attributed.csv", "1\n", "2\n"),
       {"raw/node_is_attributed.csv:2: ", "0 or 1", "got 2"}},
      {"DepthNegative",
       kCode,
       replace("raw/node_depth.csv", "1\n", "-1\n"),
       {"raw/node_depth.csv:2: ", "-1"}},
      {"DepthsDisagree",
       kCode,
       replace("raw/node_depth.csv", "25\n", ""),
       {"raw/node_depth.csv", "expected 5 lines", "found 4"}},
      {"AttributeNegative",
       kCode,
       replace("raw/node-feat.csv", "2,3", "2,-3"),
       {"raw/node-feat.csv:3: column 2", "got -3"}},
      {"CategoriesOfCodeAreThree",
       kCode,
       write("dataset.json", R"({"task": "graph-sequence", "categories": [6, 10]})"),
       {"dataset.json", "expected 3 categories", "got 2"}},
      // superpixels
      {"SuperpixelsCut",
       kMolecules,
       [](Files f) { f.write("raw/node-feat.u8", std::string(44, 'x')); },
       {"raw/node-feat.u8", "expected 45 bytes", "found 44"}},
      {"SuperpixelsTooLong",
       kMolecules,
       [](Files f) { f.write("raw/node-feat.u8.gz", gzip(std::string(1 << 20, 'x'))); },
       {"raw/node-feat.u8.gz", "45 bytes"}},
      // not a dataset
      {"NoRaw", kMolecules, remove("raw"), {"not a dataset", "raw/", "edge.csv.gz"}},
      {"RawIsAFile",
       kMolecules,
       [](Files f) {
         f.remove("raw");
         f.write("raw", "0,1\n");
       },
       {"not a dataset", "raw/"}},
      {"RawIsALoopOfLinks",
       kMolecules,
       [](Files f) {
         f.remove("raw");
         fs::create_symlink("raw", f.path("raw"));
       },
       {"data"}},
      {"InfoIsALoopOfLinks",
       kMolecules,
       [](Files f) {
         f.remove("dataset.json");
         fs::create_symlink("dataset.json", f.path("dataset.json"));
       },
       {"dataset.json"}},
      {"DatasetIsAFile",
       kMolecules,
       [](Files f) {
         fs::remove_all(f.dir());
         std::ofstream(f.dir()) << "0,1\n";
       },
       {"/data", "expected a dataset directory"}},
      {"DatasetIsNotThere",
       kMolecules,
       [](Files f) { fs::remove_all(f.dir()); },
       {"/data", "no such dataset directory"}},
      {"DatasetIsALoopOfLinks",
       kMolecules,
       [](Files f) {
         fs::remove_all(f.dir());
         fs::create_symlink(f.dir(), f.dir());
       },
       {"/data"}},
  };
}

class BadInput : public ::testing::TestWithParam<Bad> {};

TEST_P(BadInput, IsRefused) {
  const Bad& bad = GetParam();
  const DatasetFiles files;
  (files.*bad.make)();
  ASSERT_NO_THROW(read_dataset(files.dir(), {.cache = false})) << "not valid to begin with";
  bad.damage(files);
  expect_refused(files.dir(), bad.fragments);
}

INSTANTIATE_TEST_SUITE_P(Data, BadInput, ::testing::ValuesIn(bad_inputs()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BadInputs, PathTooLongForAnyFile) {
  expect_refused(fs::path("/tmp") / std::string(300, 'x'), {std::string(300, 'x')});
}

TEST(BadInputs, EveryTruncationOfAGzipIsRefused) {
  const DatasetFiles files;
  files.make_molecules();
  const std::string whole = gzip(files.read("raw/edge.csv"));
  files.remove("raw/edge.csv");
  for (size_t size = 0; size < whole.size(); ++size) {
    files.write("raw/edge.csv.gz", whole.substr(0, size));
    SCOPED_TRACE(size);
    expect_refused(files.dir(), {"raw/edge.csv.gz"});
  }
}

TEST(BadInputs, NoFlippedBitOfAGzipIsBelieved) {
  const DatasetFiles files;
  files.make_molecules();
  files.pack("raw/edge.csv");
  const Dataset want = read_dataset(files.dir(), {.cache = false});
  const std::string whole = files.read("raw/edge.csv.gz");
  int refused = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    files.write("raw/edge.csv.gz", flipped);
    try {
      // The time in gzip's header may be any.
      EXPECT_EQ(difference(read_dataset(files.dir(), {.cache = false}), want), "") << bit;
    } catch (const Error& e) {
      EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::kData)) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 6 * static_cast<int>(whole.size()));
}

TEST(BadInputs, NoFlippedByteOfAnNpyHeaderCrashes) {
  const DatasetFiles files;
  files.make_citations();
  const std::string whole = npy("<f4", "(5, 2)", kFloats10);
  with_npy(whole)(files);
  const Dataset want = read_dataset(files.dir(), {.cache = false});
  for (size_t at = 0; at < whole.size() - kFloats10.size(); ++at)
    for (const char mask : {1, 2, 4, 16, 64, -128}) {
      std::string flipped = whole;
      flipped[at] ^= mask;
      files.write("raw/node-feat.npy", flipped);
      try {
        // Another spelling of the same, or blanks that are none: whatever is read has these sizes.
        const Dataset d = read_dataset(files.dir(), {.cache = false});
        EXPECT_EQ(d.node_features.rows(), 5);
      } catch (const Error& e) {
        EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::kData)) << e.what();
        EXPECT_NE(std::string(e.what()).find("node-feat.npy"), std::string::npos) << e.what();
      }
    }
}

}  // namespace
}  // namespace egc::data
