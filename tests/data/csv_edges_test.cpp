// Tables of edges: what their further columns become, for training and for later tables.
#include "egc/data/build/csv_edges.h"

#include <gtest/gtest.h>

#include "egc/data/raw/read_dataset.h"
#include "egc/data/raw/write_dataset.h"
#include "tests/core/expect_error.h"
#include "tests/data/dataset_files.h"

namespace egc::data {
namespace {

using testing::DatasetFiles;
using testing::difference;
using testing::expect_error;
using testing::to_vector;
using Words = std::vector<std::string>;
using Ints = std::vector<int32_t>;
using Floats = std::vector<float>;

// Four people and six ties.
class CsvEdges : public ::testing::Test {
 protected:
  CsvEdges() {
    files_.write("nodes.csv", "id,age,class\na,1,p\nb,2,q\nc,3,p\nd,5,q\n");
    edges("source,target\na,b\n");
    options_.nodes = files_.path("nodes.csv");
    options_.edges = files_.path("edges.csv");
    options_.label = "class";
    options_.name = "mine";
    options_.fractions = {0.5, 0.25, 0.25};
  }
  void edges(const std::string& text) const { files_.write("edges.csv", text); }
  CsvDataset build() const { return build_csv(options_); }
  Dataset dataset() const { return build().dataset; }
  // As the dataset `first` was, without labels.
  CsvDataset build_like(const Dataset& first) const {
    CsvOptions more = options_;
    more.like = &first.info;
    more.label = "";
    return build_csv(more);
  }
  // What is written and read again.
  Dataset read_again(const Dataset& d) const {
    const auto dir = files_.root() / "written";
    std::filesystem::remove_all(dir);
    write_dataset(d, dir);
    return read_dataset(dir, {.cache = false});
  }

  DatasetFiles files_;
  CsvOptions options_;
};

TEST_F(CsvEdges, NumbersAreFloats) {
  edges("source,km,target,since\na,1.5,b,2001\nb,,c,2003\nc,4.5,d,unknown\nd,NA,a,2002\n");
  options_.columns = {{"since", ColumnKind::kNumber}};
  const CsvDataset built = build();
  const Dataset& d = built.dataset;
  EXPECT_EQ(to_vector(d.edges.values), (Ints{0, 1, 1, 2, 2, 3, 3, 0}));
  EXPECT_EQ(d.info.edge_features, FeatureKind::kFloat);
  ASSERT_EQ(d.edge_features.floats.columns, 2);
  EXPECT_TRUE(d.edge_features.categories.empty());
  EXPECT_EQ(to_vector(d.edge_features.floats.values),
            (Floats{1.5, 2001, 3, 2003, 4.5, 2002, 3, 2002}))
      << "the mean where a value is missing";
  ASSERT_EQ(d.info.edge_columns.size(), 2U);
  EXPECT_EQ(d.info.edge_columns[0].name, "km");
  EXPECT_EQ(d.info.edge_columns[0].mean, 3);
  EXPECT_EQ(built.edge_gaps.at(0).missing, 2);
  ASSERT_EQ(built.notices.size(), 1U);
  EXPECT_NE(built.notices[0].find("edge column \"since\": 1 of 4"), std::string::npos);
  EXPECT_NE(built.notices[0].find("line 4 \"unknown\""), std::string::npos) << built.notices[0];
  EXPECT_EQ(d.node_features.floats.columns, 1) << "features of nodes are what they were";
  EXPECT_EQ(d.info.columns.size(), 1U);
  EXPECT_EQ(parse_info(to_json(d.info), "here").info, d.info);
  EXPECT_EQ(difference(read_again(d), d), "");
}

TEST_F(CsvEdges, TextsAloneAreCategories) {
  edges("source,target,kind,mood\na,b,knows,good\nb,c,likes,\nc,d,knows,bad\nd,a,?,good\n");
  const CsvDataset built = build();
  const Dataset& d = built.dataset;
  EXPECT_EQ(d.info.edge_features, FeatureKind::kCategorical);
  EXPECT_EQ(d.info.edge_categories, (std::vector<int64_t>{3, 3})) << "each column with no value";
  EXPECT_EQ(to_vector(d.edge_features.categories.values), (Ints{0, 1, 1, 2, 0, 0, 2, 1}));
  EXPECT_TRUE(d.edge_features.floats.empty());
  EXPECT_EQ(d.info.edge_columns.at(1).values, (Words{"bad", "good"}));
  EXPECT_EQ(built.edge_gaps.at(0).missing, 1);
  EXPECT_EQ(parse_info(to_json(d.info), "here").info, d.info);
  EXPECT_EQ(difference(read_again(d), d), "");
}

TEST_F(CsvEdges, TextsBesideNumbersAreColumnsOfZeroAndOne) {
  edges("source,target,kind,km\na,b,knows,1\nb,c,likes,2\nc,d,,3\n");
  const Dataset d = dataset();
  EXPECT_EQ(d.info.edge_features, FeatureKind::kFloat);
  EXPECT_TRUE(d.info.edge_categories.empty());
  EXPECT_EQ(to_vector(d.edge_features.floats.values), (Floats{1, 0, 1, 0, 1, 2, 0, 0, 3}));
}

// --text is for nodes: numbers of edges stay numbers, texts alone are categories without it.
TEST_F(CsvEdges, TheEncodingOfNodesIsTheirOwn) {
  files_.write("nodes.csv", "id,age,class\na,x,p\nb,y,q\nc,x,p\nd,y,q\n");
  edges("source,target,km\na,b,1.5\nb,c,2\n");
  options_.text = TextFeatures::kEmbed;
  EXPECT_EQ(dataset().info.edge_features, FeatureKind::kFloat);
  EXPECT_EQ(dataset().info.node_features, FeatureKind::kCategorical);
}

TEST_F(CsvEdges, ManyTextsAreCategories) {
  std::string text = "source,target,kind\n";
  for (int k = 0; k < 2400; ++k) text += fmt::format("a,b,kind {}\n", k % 1200);
  edges(text);
  EXPECT_EQ(dataset().info.edge_categories, std::vector<int64_t>{1201});
  // Beside a number they would be as many columns.
  std::string beside = "source,target,kind,km\n";
  for (int k = 0; k < 2400; ++k) beside += fmt::format("a,b,kind {},{}\n", k % 1200, k);
  edges(beside);
  const CsvDataset built = build();
  EXPECT_EQ(built.dataset.info.edge_columns.size(), 1U);
  ASSERT_EQ(built.notices.size(), 1U);
  EXPECT_NE(built.notices[0].find("ignoring edge column \"kind\": it has 1200 distinct texts"),
            std::string::npos)
      << built.notices[0];
}

TEST_F(CsvEdges, KindsThatAreAskedFor) {
  edges("source,target,type,km\na,b,7,1\nb,c,8,2\nc,d,7,3\n");
  options_.columns = {{"type", ColumnKind::kCategory}, {"km", ColumnKind::kIgnore}};
  EXPECT_EQ(to_vector(dataset().edge_features.categories.values), (Ints{0, 1, 0}));
  options_.columns.clear();
  options_.ignore = {"type"};
  EXPECT_EQ(to_vector(dataset().edge_features.floats.values), (Floats{1, 2, 3}));
  options_.ignore = {"type", "km"};
  EXPECT_EQ(dataset().info.edge_features, FeatureKind::kNone);
  EXPECT_TRUE(build().notices.empty()) << "what was asked for needs no notice";
  options_.ignore = {"type", "kg"};
  expect_error(ErrorKind::kUsage, {"\"kg\"", "id, age, class", "source, target, type, km"},
               [&] { build(); });
  options_.ignore = {};
  options_.columns = {{"source", ColumnKind::kNumber}};
  expect_error(ErrorKind::kUsage, {"--column source", "known: age, type, km"}, [&] { build(); });
}

TEST_F(CsvEdges, WhatSaysNothingOrTooMuchIsLeftOut) {
  edges("id,source,target,one,class,name\n1,a,b,7,p,x\n2,b,c,7,q,y\n3,c,d,7,p,z\n");
  const CsvDataset built = build();
  EXPECT_TRUE(built.dataset.edge_features.empty());
  EXPECT_TRUE(built.dataset.info.edge_columns.empty());
  ASSERT_EQ(built.notices.size(), 4U);
  const char* reasons[] = {"\"id\": it numbers the edges", "\"one\": all its values are the same",
                           "\"class\": it has the name of the label",
                           "\"name\": all its values are distinct texts"};
  for (size_t k = 0; k < 4; ++k)
    EXPECT_NE(built.notices[k].find(reasons[k]), std::string::npos) << built.notices[k];
  options_.columns = {{"id", ColumnKind::kNumber}};
  EXPECT_EQ(to_vector(dataset().edge_features.floats.values), (Floats{1, 2, 3}));
}

TEST_F(CsvEdges, FeaturesGoWithTheirEdgesIntoGraphs) {
  files_.write("nodes.csv", "id,g,class\n1,b,0.5\n2,b,0.5\n1,a,1.5\n2,a,1.5\n1,c,2\n");
  edges("g,source,target,km\na,1,2,10\nb,2,1,20\na,2,1,30\n");
  options_.graph_id = "g";
  options_.fractions = {0.34, 0.33, 0.33};
  const Dataset d = dataset();
  EXPECT_EQ(to_vector(d.edges.values), (Ints{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(to_vector(d.edge_features.floats.values), (Floats{20, 10, 30}));
}

TEST_F(CsvEdges, MoreRowsAreReadAsTheFirstWere) {
  edges("source,target,kind,km\na,b,knows,1\nb,c,likes,2\nc,d,,6\n");
  const Dataset first = dataset();
  EXPECT_EQ(to_vector(build_like(first).dataset.edge_features.floats.values),
            to_vector(first.edge_features.floats.values));
  edges("km,target,note,kind,source\n,a,x,hates,d\n9,b,y,likes,d\n");
  const CsvDataset other = build_like(first);
  EXPECT_EQ(to_vector(other.dataset.edge_features.floats.values), (Floats{0, 0, 3, 0, 1, 9}));
  EXPECT_EQ(other.dataset.info.edge_columns, first.info.edge_columns);
  EXPECT_EQ(other.dataset.info.edge_features, FeatureKind::kFloat);
  EXPECT_EQ(other.edge_gaps.at(0).unknown, 1);
  EXPECT_EQ(other.edge_gaps.at(1).missing, 1);
  ASSERT_EQ(other.notices.size(), 1U);
  EXPECT_NE(other.notices[0].find("does not use: note"), std::string::npos) << other.notices[0];
  // No edge at all has the columns all the same.
  edges("source,target,kind,km\n");
  EXPECT_EQ(build_like(first).dataset.info.edge_features, FeatureKind::kFloat);
  EXPECT_EQ(build_like(first).dataset.edge_features.floats.columns, 3);
  edges("source,target,kind\na,b,knows\n");
  expect_error(ErrorKind::kData, {"edges.csv", "\"km\"", "source, target, kind"},
               [&] { build_like(first); });
  edges("source,target,kind,km\na,b,knows,far\nb,a,knows,near\n");
  expect_error(ErrorKind::kData, {"edges.csv:2", "\"km\"", "a number", "far"},
               [&] { build_like(first); });
}

TEST_F(CsvEdges, MoreCategoriesAreReadAsTheFirstWere) {
  edges("source,target,kind\na,b,knows\nb,c,likes\n");
  options_.columns = {{"kind", ColumnKind::kCategory}};
  const Dataset first = dataset();
  options_.columns.clear();
  edges("source,target,kind\na,b,likes\nb,c,hates\nc,d,\n");
  const CsvDataset other = build_like(first);
  EXPECT_EQ(to_vector(other.dataset.edge_features.categories.values), (Ints{1, 2, 2}));
  EXPECT_EQ(other.dataset.info.edge_categories, std::vector<int64_t>{3});
}

// A dataset of files, whose edges' features are of no table.
TEST_F(CsvEdges, FeaturesOfNoTableAreNotMade) {
  Dataset first = dataset();
  first.info.edge_features = FeatureKind::kCategorical;
  first.info.edge_categories = {3};
  edges("source,target,kind\na,b,likes\n");
  const Dataset d = build_like(first).dataset;
  EXPECT_TRUE(d.edge_features.empty());
  EXPECT_EQ(d.info.edge_features, FeatureKind::kNone);
}

}  // namespace
}  // namespace egc::data
