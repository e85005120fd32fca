// Weights of edges: from tables and raw files to the graphs that networks see.
#include <gtest/gtest.h>

#include "egc/data/build/build_csv.h"
#include "egc/data/partition/dataset_part.h"
#include "egc/data/partition/graph_store.h"
#include "egc/data/raw/cache.h"
#include "egc/data/raw/read_dataset.h"
#include "egc/data/raw/write_dataset.h"
#include "egc/data/slice.h"
#include "egc/data/summary.h"
#include "egc/data/training_edges.h"
#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

using testing::DatasetFiles;
using testing::difference;
using testing::expect_error;
using testing::to_vector;
using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

Dataset weighted_molecules(const DatasetFiles& files) {
  files.make_molecules();
  files.write("raw/edge-weight.csv", "1\n2\n3\n4\n5\n6\n7\n8.5\n");
  return read_dataset(files.dir(), {.cache = false});
}

TEST(EdgeWeights, AreReadWrittenCachedAndSliced) {
  const DatasetFiles files;
  const Dataset d = weighted_molecules(files);
  EXPECT_EQ(to_vector(d.edge_weights), (Floats{1, 2, 3, 4, 5, 6, 7, 8.5}));
  EXPECT_EQ(d.info.edge_weight, "weight") << "of no table";
  EXPECT_EQ(parse_info(to_json(d.info), "here").info, d.info);
  const auto out = files.root() / "written";
  write_dataset(d, out);
  EXPECT_EQ(difference(read_dataset(out, {.cache = false}), d), "");
  EXPECT_EQ(difference(read_dataset(files.dir()), d), "");
  EXPECT_EQ(difference(read_dataset(files.dir()), d), "") << "from the cache";
  EXPECT_EQ(to_vector(slice(d, 1, 2).edge_weights), (Floats{4, 5, 6, 7, 8.5}));
  EXPECT_EQ(summarize(d).min_edge_weight, 1);
  EXPECT_EQ(summarize(d).max_edge_weight, 8.5);
  files.remove("raw/edge-weight.csv");
  files.write("raw/edge-weight.npy",
              testing::npy("<f4", "(8,)", testing::bytes_of(to_vector(d.edge_weights))));
  EXPECT_EQ(difference(read_dataset(files.dir(), {.cache = false}), d), "");
}

// Runs know their dataset by its checksum: datasets without weights must keep theirs.
TEST(EdgeWeights, ChecksumsOfOtherDatasetsStay) {
  const DatasetFiles files;
  const Dataset d = weighted_molecules(files);
  Dataset without = d;
  without.edge_weights = {};
  without.info.edge_weight = "";
  EXPECT_EQ(dataset_checksum(without), "f0c5faebacdb27d55ea7b26f2a8d0d27");
  EXPECT_NE(dataset_checksum(d), dataset_checksum(without));
}

TEST(EdgeWeights, GoAlongInBothDirections) {
  const DatasetFiles files;
  Dataset d = weighted_molecules(files);
  const Csr plain = training_graph(d, 2, EdgeRules::of(d));  // 0-1, 1-2, 2-3, 3-3
  EXPECT_EQ(Floats(plain.weights().begin(), plain.weights().end()), (Floats{5, 6, 7, 8.5}));
  d.info.add_inverse_edge = true;
  const Csr both = training_graph(d, 2, EdgeRules::of(d));
  // Into 0: from 1; into 1: from 0, 2; into 2: from 1, 3; into 3: from 2, 3, 3.
  EXPECT_EQ(Ints(both.sources().begin(), both.sources().end()), (Ints{1, 0, 2, 1, 3, 2, 3, 3}));
  EXPECT_EQ(Floats(both.weights().begin(), both.weights().end()),
            (Floats{5, 5, 6, 6, 7, 7, 8.5, 8.5}));
  EdgeRules rules = EdgeRules::of(d);
  rules.drop_loops = true;
  EXPECT_EQ(training_graph(d, 2, rules).weights().size(), 6U);
}

TEST(EdgeWeights, UndirectedEdgesHaveOne) {
  const DatasetFiles files;
  files.make_citations();  // 0-1, 1-2, 2-3, 3-4, 0-1, 4-4
  files.write("raw/edge-weight.csv", "1\n2\n3\n4\n1\n6\n");
  const Dataset d = read_dataset(files.dir(), {.cache = false});
  const Csr graph = training_graph(d, 0, EdgeRules::of(d));
  EXPECT_EQ(Ints(graph.sources().begin(), graph.sources().end()),
            (Ints{1, 0, 2, 1, 3, 2, 4, 3, 4}));
  EXPECT_EQ(Floats(graph.weights().begin(), graph.weights().end()),
            (Floats{1, 1, 2, 2, 3, 3, 4, 4, 6}));
  Dataset other = d;
  other.edge_weights = Floats{1, 2, 3, 4, 1.5, 6};
  other.edges.values = Ints{0, 1, 1, 2, 2, 3, 3, 4, 1, 0, 4, 4};
  expect_error(ErrorKind::kData, {"made", "edges 0 and 4", "1 and 1.5", "one weight"},
               [&] { check_graphs(other, "made"); });
  expect_error(ErrorKind::kData, {"citations", "nodes 0 and 1", "1 and 1.5", "one weight"},
               [&] { training_graph(other, 0, EdgeRules::of(other)); });
}

TEST(EdgeWeights, AreInBatches) {
  const DatasetFiles files;
  const Dataset d = weighted_molecules(files);
  const GraphStore store(d);
  const std::vector<int64_t> ids = {2, 0};
  const GraphBatch batch = store.batch(ids);
  Floats want;
  for (const int64_t k : ids) {
    const Csr graph = training_graph(d, k, EdgeRules::of(d));
    want.insert(want.end(), graph.weights().begin(), graph.weights().end());
  }
  const auto got = batch.graphs.graph.weights();
  EXPECT_EQ(Floats(got.begin(), got.end()), want);
}

TEST(EdgeWeights, AreInPartitions) {
  const DatasetFiles files;
  files.make_citations();
  files.write("raw/edge-weight.csv", "1\n2\n3\n4\n1\n6\n");
  const Dataset d = read_dataset(files.dir(), {.cache = false});
  const auto dir = files.root() / "parts";
  write_parts(dir, d, 2, PartitionMethod::kRanges);
  double sum = 0;
  for (int64_t k = 0; k < 2; ++k) {
    const DatasetPart part = read_part(dir, k, 2);
    EXPECT_TRUE(part.dataset.edge_weights.empty()) << "its graph has them";
    EXPECT_EQ(part.dataset.info.edge_weight, "weight");
    for (const float w : part.share.graph.relations.at(0).weights()) sum += w;
  }
  EXPECT_EQ(sum, 2 * (1 + 2 + 3 + 4) + 6);
}

TEST(EdgeWeights, AreChecked) {
  const DatasetFiles files;
  const Dataset good = weighted_molecules(files);
  const auto refused = [&](std::initializer_list<std::string> parts, auto&& change) {
    Dataset d = good;
    change(d);
    expect_error(ErrorKind::kData, parts, [&] { check_graphs(d, "made"); });
  };
  EXPECT_NO_THROW(check_graphs(good, "made"));
  refused({"made", "8 edge weights", "got 1"}, [](Dataset& d) { d.edge_weights = Floats{1}; });
  refused({"made", "edge 5", "finite", "nan"}, [](Dataset& d) {
    Floats w = to_vector(d.edge_weights);
    w[5] = NAN;
    d.edge_weights = std::move(w);
  });
}

// Tables

class CsvWeights : public ::testing::Test {
 protected:
  CsvWeights() {
    files_.write("nodes.csv", "id,age,class\na,1,p\nb,2,q\nc,3,p\nd,5,q\n");
    options_.nodes = files_.path("nodes.csv");
    options_.edges = files_.path("edges.csv");
    options_.label = "class";
    options_.edge_weight = "w";
    options_.name = "mine";
    options_.fractions = {0.5, 0.25, 0.25};
  }
  void edges(const std::string& text) const { files_.write("edges.csv", text); }
  Dataset build() const { return build_csv(options_).dataset; }
  Dataset build_like(const Dataset& first) const {
    CsvOptions more = options_;
    more.like = &first.info;
    more.label = more.edge_weight = "";
    return build_csv(more).dataset;
  }

  DatasetFiles files_;
  CsvOptions options_;
};

TEST_F(CsvWeights, AreAColumn) {
  edges("w,source,target,km\n0.5,a,b,1\n-2,b,c,2\n1e-3,c,d,3\n");
  const Dataset d = build();
  EXPECT_EQ(to_vector(d.edge_weights), (Floats{0.5, -2, 1e-3F}));
  EXPECT_EQ(d.info.edge_weight, "w");
  EXPECT_EQ(d.edge_features.columns(), 1) << "it is no feature";
  // New tables have the column of that name.
  edges("km,w,target,source\n1,7,b,a\n");
  EXPECT_EQ(to_vector(build_like(d).edge_weights), Floats{7});
  edges("km,target,source\n1,b,a\n");
  expect_error(ErrorKind::kData, {"edges.csv", "\"w\"", "trained with", "km"},
               [&] { build_like(d); });
  expect_error(ErrorKind::kUsage, {"edges.csv", "\"w\"", "--edge-weight", "km"}, [&] { build(); });
  options_.edge_weight = "source";
  expect_error(ErrorKind::kUsage, {"\"source\"", "--edge-weight"}, [&] { build(); });
}

TEST_F(CsvWeights, MustBeFiniteNumbers) {
  for (const char* bad : {"", "NA", "heavy", "inf", "nan", "1e39", "1e999", "?"}) {
    edges(fmt::format("source,target,w\na,b,1\nb,c,{}\n", bad));
    SCOPED_TRACE(bad);
    expect_error(ErrorKind::kData,
                 {"edges.csv:3: ", "\"w\"", "a finite number", fmt::format("\"{}\"", bad)},
                 [&] { build(); });
  }
}

TEST_F(CsvWeights, AreTheSameInBothDirections) {
  options_.undirected = true;
  edges("source,target,w\na,b,1\nb,a,1\nc,c,3\na,b,1\n");
  EXPECT_EQ(build().edge_weights.size(), 4);
  edges("source,target,w\na,b,1\nc,d,2\nb,a,1.5\n");
  expect_error(ErrorKind::kData, {"edges.csv:4: ", "weight 1.5", "line 2", "weight is 1"},
               [&] { build(); });
  options_.undirected = false;
  EXPECT_EQ(build().edge_weights.size(), 3);
}

TEST_F(CsvWeights, MayBeOfNoEdge) {
  edges("source,target,w\n");
  const Dataset d = build();
  EXPECT_TRUE(d.edge_weights.empty());
  const auto out = files_.root() / "written";
  write_dataset(d, out);
  EXPECT_EQ(difference(read_dataset(out, {.cache = false}), d), "");
}

}  // namespace
}  // namespace egc::data
