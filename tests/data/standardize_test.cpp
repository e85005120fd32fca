// Features by mean and deviation of the training set.
#include "egc/data/standardize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "egc/data/generate/generators.h"
#include "egc/data/splits.h"
#include "tests/core/expect_error.h"

namespace egc::data {
namespace {

using testing::expect_error;

// Six nodes of one graph; the first three train.
Dataset six_nodes() {
  Dataset d;
  d.info.name = "six";
  d.info.task = Task::kNodeClassification;
  d.info.num_classes = 2;
  d.info.node_features = FeatureKind::kFloat;
  d.first_node = std::vector<int64_t>{0, 6};
  d.first_edge = std::vector<int64_t>{0, 0};
  d.edges = {std::vector<int32_t>{}, 2};
  d.node_features.floats = {std::vector<float>{1, 1e5F, 0, 7, 2, 3e5F, 1, 7, 3, 2e5F, 0, 7,
                                               9, 0,    1, 8, 9, 0,    1, 7, 9, 0,    1, 7},
                            4};
  d.labels.classes = std::vector<int32_t>{0, 1, 0, 1, 0, 1};
  d.splits = {ranges_split("s", 3, 1, 2)};
  return d;
}

std::vector<FeatureColumn> numbers(const std::vector<std::string>& names) {
  std::vector<FeatureColumn> out;
  for (const std::string& name : names) out.push_back({name, false, {}, 0});
  return out;
}

TEST(Standardize, ByTheTrainingSetAlone) {
  const Dataset d = six_nodes();
  const auto scaling = learn_scaling(d, d.splits[0]);
  ASSERT_EQ(scaling.size(), 1U);
  EXPECT_DOUBLE_EQ(scaling[0].mean[0], 2);
  EXPECT_DOUBLE_EQ(scaling[0].deviation[0], std::sqrt(2.0 / 3));
  EXPECT_DOUBLE_EQ(scaling[0].mean[1], 2e5);
  EXPECT_DOUBLE_EQ(scaling[0].deviation[3], 1) << "constant in training";
  const Dataset scaled = standardized(d, scaling);
  double sum = 0;
  for (int64_t i = 0; i < 3; ++i) sum += scaled.node_features.floats.at(i, 1);
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_FLOAT_EQ(scaled.node_features.floats.at(3, 0), static_cast<float>(7 / std::sqrt(2.0 / 3)));
  EXPECT_EQ(scaled.node_features.floats.at(0, 3), 0);
  EXPECT_EQ(scaled.node_features.floats.at(3, 3), 1);
  EXPECT_EQ(d.node_features.floats.at(0, 1), 1e5F) << "the dataset itself stays";
}

TEST(Standardize, ColumnsOfZeroAndOneOfTablesStay) {
  Dataset d = six_nodes();
  d.info.columns = numbers({"a", "b", "c", "e"});
  EXPECT_TRUE(has_raw_numbers(d.info));
  auto scaling = learn_scaling(d, d.splits[0]);
  EXPECT_EQ(scaling[0].deviation[2], 1);
  EXPECT_EQ(scaling[0].mean[2], 0);
  EXPECT_NE(scaling[0].mean[1], 0);
  d.info.columns = numbers({"a", "b"});
  d.info.columns.push_back({"c", true, {"x", "y"}, 0});
  scaling = learn_scaling(d, d.splits[0]);
  EXPECT_EQ(scaling[0].mean[3], 0) << "it stands for a text";
  EXPECT_FALSE(has_raw_numbers(DatasetInfo()));
}

TEST(Standardize, TheModelKeepsItToTheBit) {
  Dataset d = six_nodes();
  d.info.scaling = learn_scaling(d, d.splits[0]);
  EXPECT_EQ(parse_info(to_json(d.info), "here").info, d.info);
  for (const char* bad : {R"({"scaling": 3})", R"({"scaling": [[[1], [0]]]})",
                          R"({"scaling": [[[1], [1, 2]]]})", R"({"scaling": [[["a"], [1]]]})",
                          R"({"scaling": [[[1], [-1]]]})", R"({"scaling": [[1, 1]]})"})
    expect_error(ErrorKind::kData, {"here", "scaling"}, [&] { parse_info(bad, "here"); });
}

TEST(Standardize, OtherColumnsAreRefused) {
  const Dataset d = six_nodes();
  expect_error(ErrorKind::kData, {"six has 4 float features", "trained on 1"}, [&] {
    standardized(d, {{{1}, {1}}});
  });
  expect_error(ErrorKind::kData, {"1 node types"}, [&] {
    standardized(d, {{{1}, {1}}, {{1}, {1}}});
  });
}

TEST(Standardize, GraphsByTheirNodesAndTypesByTheirOwn) {
  const Dataset graphs = generate("graph-props", {.seed = 1, .size = 0.01});
  const auto split = with_valid(graphs, "");
  const Dataset scaled = standardized(graphs, learn_scaling(graphs, split));
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (const int64_t graph : split.train)
    for (int64_t i = graphs.first_node[graph]; i < graphs.first_node[graph + 1]; ++i, ++count) {
      sum += scaled.node_features.floats.at(i, 1);
      squares += std::pow(scaled.node_features.floats.at(i, 1), 2);
    }
  EXPECT_NEAR(sum / count, 0, 1e-5);
  EXPECT_NEAR(squares / count, 1, 1e-4);
  const Dataset typed = generate("academic", {.seed = 1, .size = 0.1});
  const auto scaling = learn_scaling(typed, with_valid(typed, ""));
  EXPECT_EQ(scaling.size(), typed.hetero.features.size());
  const Dataset typed_scaled = standardized(typed, scaling);
  for (size_t t = 0; t < scaling.size(); ++t)
    EXPECT_EQ(scaling[t].mean.size(), static_cast<size_t>(typed.hetero.features[t].floats.columns));
  EXPECT_EQ(typed_scaled.hetero.features.size(), typed.hetero.features.size());
}

TEST(Standardize, EdgesByTheEdgesOfTheTrainingSet) {
  Dataset d;  // three graphs of two nodes with 2, 1 and 1 edges; the first two train
  d.info.name = "three";
  d.info.task = Task::kGraphRegression;
  d.info.edge_features = FeatureKind::kFloat;
  d.info.edge_columns = numbers({"km", "flag", "one"});
  d.info.edge_columns.push_back({"kind", true, {"x"}, 0});
  d.first_node = std::vector<int64_t>{0, 2, 4, 6};
  d.first_edge = std::vector<int64_t>{0, 2, 3, 4};
  d.edges = {std::vector<int32_t>{0, 1, 1, 0, 0, 1, 0, 1}, 2};
  d.edge_features.floats = {std::vector<float>{1, 1, 7, 1, 2, 0, 7, 0, 3, 1, 7, 0, 100, 1, 8, 1},
                            4};
  d.splits = {ranges_split("s", 2, 0, 1)};
  EXPECT_TRUE(has_raw_edge_numbers(d.info));
  EXPECT_FALSE(has_raw_numbers(d.info)) << "which is of nodes";
  const auto scaling = learn_edge_scaling(d, d.splits[0]);
  ASSERT_EQ(scaling.size(), 1U);
  EXPECT_EQ(scaling[0].mean, (std::vector<double>{2, 0, 7, 0})) << "0 and 1 stay";
  EXPECT_DOUBLE_EQ(scaling[0].deviation[0], std::sqrt(2.0 / 3));
  EXPECT_EQ(scaling[0].deviation[2], 1) << "constant in training";
  const Dataset scaled = standardized_edges(d, scaling);
  EXPECT_EQ(scaled.edge_features.floats.at(1, 0), 0);
  EXPECT_EQ(scaled.edge_features.floats.at(3, 2), 1);
  EXPECT_EQ(scaled.edge_features.floats.at(3, 3), 1);
  EXPECT_EQ(d.edge_features.floats.at(1, 0), 2) << "the dataset itself stays";
  d.info.edge_scaling = scaling;
  EXPECT_EQ(parse_info(to_json(d.info), "here").info, d.info);
  expect_error(ErrorKind::kData, {"here", "edge_scaling", "one entry"},
               [] { parse_info(R"({"edge_scaling": [[[1], [1]], [[1], [1]]]})", "here"); });
  expect_error(ErrorKind::kData, {"three has 4 float edge features", "trained on 1"}, [&] {
    standardized_edges(d, {{{1}, {1}}});
  });
  // All edges of a single graph are seen in training.
  d.info.task = Task::kNodeClassification;
  d.first_node = std::vector<int64_t>{0, 6};
  d.first_edge = std::vector<int64_t>{0, 4};
  EXPECT_EQ(learn_edge_scaling(d, d.splits[0])[0].mean[0], 26.5);
  d.edge_features = {};
  EXPECT_TRUE(learn_edge_scaling(d, d.splits[0]).empty());
}

TEST(Standardize, ColumnsFarApartAreNamed) {
  Dataset d = six_nodes();
  auto far = columns_far_apart(d, d.splits[0]);
  ASSERT_EQ(far.size(), 2U);
  EXPECT_NE(far[0].find("2 (up to 1)"), std::string::npos) << far[0];
  d.info.columns = numbers({"age", "income", "c", "e"});
  far = columns_far_apart(d, d.splits[0]);
  EXPECT_NE(far[1].find("income (up to 3e+05)"), std::string::npos) << far[1];
  EXPECT_TRUE(
      columns_far_apart(standardized(d, learn_scaling(d, d.splits[0])), d.splits[0]).empty());
}

}  // namespace
}  // namespace egc::data
