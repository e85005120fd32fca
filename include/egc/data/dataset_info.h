// What dataset.json says of a dataset: the task, how it is scored, what its columns mean.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "egc/core/named_table.h"
#include "egc/core/task.h"

namespace egc::data {

// weighted-accuracy: the mean of the classes' accuracies.
enum class Metric { kMae, kAccuracy, kWeightedAccuracy, kRocAuc, kF1 };
const NamedTable<Metric>& metrics();
Metric usual_metric(Task task);

enum class FeatureKind { kNone, kFloat, kCategorical };
const NamedTable<FeatureKind>& feature_kinds();

// Depths of syntax trees that networks tell apart: deeper nodes count as the last.
constexpr int32_t kAstDepths = 21;

// A column of a table of one's own, and how it becomes features (csv_features.h).
struct FeatureColumn {
  std::string name;
  bool is_text = false;
  std::vector<std::string> values;  // of a text column, sorted
  double mean = 0;                  // of a number column: what missing values count as

  bool operator==(const FeatureColumn&) const = default;
};

// Of the float features of a type of nodes: (x - mean) / deviation, column by column.
struct FeatureScaling {
  std::vector<double> mean;
  std::vector<double> deviation;  // above 0

  bool operator==(const FeatureScaling&) const = default;
};

struct DatasetInfo {
  std::string name;
  Task task = Task::kGraphRegression;
  Metric metric = Metric::kMae;
  int64_t num_classes = 0;  // classification
  int64_t num_targets = 1;  // regression and binary tasks: values per graph

  // What the loader adds: both directions of every edge without duplicates, or the inverse of every
  // edge as it is (relations between types: an inverse relation).
  bool undirected = false;
  bool add_inverse_edge = false;

  FeatureKind node_features = FeatureKind::kNone;
  FeatureKind edge_features = FeatureKind::kNone;
  std::vector<int64_t> categories;        // of each column, where node features are categorical
  std::vector<int64_t> edge_categories;   // likewise of the edges'
  std::string recipe;                     // how features were made: "ogb", "zinc"; else empty
  std::vector<FeatureColumn> columns;     // likewise, of tables of one's own
  std::vector<FeatureScaling> scaling;    // of a model: what features are standardised by
  std::vector<std::string> class_names;   // where classes have names
  std::vector<std::string> target_names;  // where targets have

  bool operator==(const DatasetInfo&) const = default;
};

// dataset.json may leave out what the data itself tells.
struct GivenInfo {
  DatasetInfo info;
  std::set<std::string, std::less<>> keys;  // what the file had

  bool has(std::string_view key) const { return keys.contains(key); }
};

// Throws kData with `where`. An unknown key is warned of, not refused: other tools may have theirs.
GivenInfo parse_info(const std::string& json_text, const std::string& where);
std::string to_json(const DatasetInfo& info);

}  // namespace egc::data
