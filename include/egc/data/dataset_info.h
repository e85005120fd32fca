// The description of a dataset, as in dataset.json: task, metric, meaning of columns.
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

// How predictions are scored: mean absolute error, accuracy, mean of the classes' accuracies,
// ROC-AUC, or F1 of words.
enum class Metric { kMae, kAccuracy, kWeightedAccuracy, kRocAuc, kF1 };
const NamedTable<Metric>& metrics();  // names: mae, accuracy, ...
Metric usual_metric(Task task);       // default metric of a task

// Type of the features of nodes or edges.
enum class FeatureKind { kNone, kFloat, kCategorical };
const NamedTable<FeatureKind>& feature_kinds();  // names: none, float, categorical

// Depths of syntax trees that networks distinguish; deeper nodes count as the deepest.
constexpr int32_t kAstDepths = 21;

// A column of a user's table and how it becomes features (data/build/csv_features.h).
struct FeatureColumn {
  std::string name;                 // header of the column
  bool is_text = false;             // text or numbers
  std::vector<std::string> values;  // of a text column: its values, sorted
  double mean = 0;                  // of a number column: replaces missing values

  bool operator==(const FeatureColumn&) const = default;  // compares all fields
};

// Standardization of the float features of a node type, or of edges: (x - mean) / deviation.
struct FeatureScaling {
  std::vector<double> mean;       // of each column
  std::vector<double> deviation;  // of each column, positive

  bool operator==(const FeatureScaling&) const = default;  // compares all fields
};

// The description of a dataset.
struct DatasetInfo {
  std::string name;                    // for reports
  Task task = Task::kGraphRegression;  // what is predicted
  Metric metric = Metric::kMae;        // how it is scored
  int64_t num_classes = 0;             // classification
  int64_t num_targets = 1;             // regression and binary tasks: values per item

  // Networks see both directions of every edge, without duplicates.
  bool undirected = false;
  // Networks see the inverse of every edge too (of relations: an inverse relation).
  bool add_inverse_edge = false;

  FeatureKind node_features = FeatureKind::kNone;  // type of the node features
  FeatureKind edge_features = FeatureKind::kNone;  // type of the edge features
  std::vector<int64_t> categories;                 // number of categories of each node feature
  std::vector<int64_t> edge_categories;            // number of categories of each edge feature
  // Column that the weights of edges come from; "weight" if from no table, empty if there are none.
  std::string edge_weight;
  std::string recipe;  // how features were made from molecules: "ogb", "zinc"; otherwise empty
  std::vector<FeatureColumn> columns;        // how features were made from a user's table
  std::vector<FeatureColumn> edge_columns;   // how edge features were made from a user's table
  std::vector<FeatureScaling> scaling;       // of a model: standardization of its training features
  std::vector<FeatureScaling> edge_scaling;  // likewise of its edge features; at most one entry
  std::vector<std::string> class_names;      // empty if classes have none
  std::vector<std::string> target_names;     // empty if targets have none

  bool operator==(const DatasetInfo&) const = default;  // compares all fields
};

// A parsed dataset.json, which may leave out what the data show.
struct GivenInfo {
  DatasetInfo info;                         // with defaults for missing keys
  std::set<std::string, std::less<>> keys;  // keys that the file has

  // Whether the file has this key.
  bool has(std::string_view key) const { return keys.contains(key); }
};

// Parses dataset.json. Throws kData, naming `where`. Unknown keys give a warning: other tools may
// have added them.
GivenInfo parse_info(const std::string& json_text, const std::string& where);
std::string to_json(const DatasetInfo& info);  // the inverse of parse_info()

}  // namespace egc::data
