// What a network was trained on of edges, against what it is given.
#include "egc/data/edge_schema.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"

namespace egc::data {
namespace {

using testing::expect_error;

// One graph of three nodes and two edges.
Dataset two_edges() {
  Dataset d;
  d.info.name = "two";
  d.first_node = std::vector<int64_t>{0, 3};
  d.first_edge = std::vector<int64_t>{0, 2};
  d.edges = {std::vector<int32_t>{0, 1, 1, 2}, 2};
  return d;
}

Dataset with_floats(int64_t columns) {
  Dataset d = two_edges();
  d.info.edge_features = FeatureKind::kFloat;
  d.edge_features.floats = {std::vector<float>(static_cast<size_t>(2 * columns), 1), columns};
  return d;
}

// The last edge has the given categories.
Dataset with_categories(std::vector<int32_t> last, std::vector<int64_t> numbers) {
  Dataset d = two_edges();
  const auto columns = std::ssize(last);
  last.insert(last.begin(), last.size(), 0);
  d.info.edge_features = FeatureKind::kCategorical;
  d.info.edge_categories = std::move(numbers);
  d.edge_features.categories = {std::move(last), columns};
  return d;
}

DatasetInfo of_table(std::vector<FeatureColumn> columns) {
  DatasetInfo out;
  out.edge_features = FeatureKind::kFloat;
  out.edge_columns = std::move(columns);
  return out;
}

struct Case {
  const char* what;
  DatasetInfo trained;
  Dataset given;
  std::vector<std::string> refusal;  // empty: it fits
};

std::vector<Case> cases() {
  const DatasetInfo bonds = with_categories({1, 1}, {4, 3}).info;
  const DatasetInfo km = of_table({{"km", false, {}, 2}});
  const DatasetInfo two = of_table({{"km", false, {}, 2}, {"kind", true, {"x", "y"}, 0}});
  DatasetInfo scaled = with_floats(2).info;
  scaled.edge_scaling = {{{0, 0}, {1, 1}}};
  Dataset other_table = with_floats(1);
  other_table.info.edge_columns = {{"miles", false, {}, 2}};
  Dataset other_texts = with_floats(3);
  other_texts.info.edge_columns = two.edge_columns;
  other_texts.info.edge_columns[1].values = {"x", "z"};
  Dataset same_table = with_floats(1);
  same_table.info.edge_columns = {{"km", false, {}, 77}};
  Dataset no_edge = two_edges();
  no_edge.first_edge = std::vector<int64_t>{0, 0};
  no_edge.edges = {std::vector<int32_t>{}, 2};
  return {
      {"same categories", bonds, with_categories({3, 2}, {4, 3}), {}},
      {"more are declared than are there", bonds, with_categories({3, 2}, {9, 9}), {}},
      {"one beyond the first column",
       bonds,
       with_categories({4, 2}, {5, 3}),
       {"here: edge 1", "category 4 in column 1", "[0, 4)"}},
      {"one beyond the last column",
       bonds,
       with_categories({0, 3}, {5, 4}),
       {"edge 1", "category 3 in column 2", "[0, 3)"}},
      {"a negative one", bonds, with_categories({0, -1}, {4, 3}), {"category -1 in column 2"}},
      {"fewer columns",
       bonds,
       with_categories({1}, {4}),
       {"here", "expected 2 categorical, found 1 categorical"}},
      {"floats for categories", bonds, with_floats(2), {"expected 2 categorical, found 2 float"}},
      {"nothing for categories", bonds, two_edges(), {"expected 2 categorical, found none"}},
      {"no edge for categories", bonds, no_edge, {}},
      {"same floats", km, with_floats(1), {}},
      {"more floats", km, with_floats(2), {"expected 1 float, found 2 float"}},
      {"one-hot columns count", two, with_floats(3), {}},
      {"one-hot columns are missing", two, with_floats(2), {"expected 3 float, found 2 float"}},
      {"the scaling tells", scaled, with_floats(3), {"expected 2 float, found 3 float"}},
      {"nothing tells of floats", with_floats(2).info, with_floats(3), {}},
      {"nothing for floats", with_floats(2).info, two_edges(), {"float ones, found none"}},
      {"another table", km, other_table, {"edge columns are miles", "trained on km", "--edges"}},
      {"other texts", two, other_texts, {"\"kind\" has other categories"}},
      {"means may differ", km, same_table, {}},
      {"features for none", DatasetInfo(), with_floats(1), {"expected none, found 1 float"}},
  };
}

TEST(EdgeSchema, FitsOrIsRefusedInASentence) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.what);
    if (c.refusal.empty()) {
      EXPECT_NO_THROW(check_edge_schema(c.trained, c.given, "here"));
    }
    for (const std::string& part : c.refusal)
      expect_error(ErrorKind::kData, {part},
                   [&] { check_edge_schema(c.trained, c.given, "here"); });
  }
}

TEST(EdgeSchema, TheCallerMayKnowTheColumns) {
  const DatasetInfo trained = with_floats(2).info;
  EXPECT_NO_THROW(check_edge_schema(trained, with_floats(2), "here", 2));
  expect_error(ErrorKind::kData, {"here", "expected 2 float, found 3 float"},
               [&] { check_edge_schema(trained, with_floats(3), "here", 2); });
}

TEST(EdgeSchema, WeightsAreThereOrNot) {
  Dataset weighted = two_edges();
  weighted.edge_weights = std::vector<float>{1, 2};
  weighted.info.edge_weight = "w";
  const Dataset plain = two_edges();
  EXPECT_NO_THROW(check_edge_weights(weighted.info, weighted, "here"));
  EXPECT_NO_THROW(check_edge_weights(plain.info, plain, "here"));
  expect_error(ErrorKind::kData, {"here", "edge weights (\"w\")", "found none"},
               [&] { check_edge_weights(weighted.info, plain, "here"); });
  expect_error(ErrorKind::kData, {"here", "have weights", "trained without"},
               [&] { check_edge_weights(plain.info, weighted, "here"); });
}

}  // namespace
}  // namespace egc::data
