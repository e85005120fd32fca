// A dataset from tables of one's own: nodes with an id, a label and features, and edges between
// ids.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

enum class TextFeatures {
  kOneHot,  // a 0/1 column for each value; fits beside numbers
  kEmbed    // a category each; needs all features to be text
};
const NamedTable<TextFeatures>& text_feature_kinds();

struct CsvOptions {
  std::filesystem::path edges;  // columns source and target, or the first two
  std::filesystem::path nodes;
  std::string id;                   // column of the node's id; empty: "id", or the first
  std::string label;                // column of `nodes`, or of `graphs` where that is given
  std::string graph_id;             // column that tells which graph a node is of; empty: one graph
  std::filesystem::path graphs;     // table with graph_id and label; empty: labels stand with nodes
  std::vector<std::string> ignore;  // columns that are no features
  TextFeatures text = TextFeatures::kOneHot;
  std::optional<Task> task;  // empty: from the labels
  bool undirected = false;   // every edge counts in both directions
  std::array<double, 3> fractions = {0.8, 0.1, 0.1};
  uint64_t seed = 0;
  std::string name;
};

// What became of a column, for the person and for reading more rows later the same way.
struct CsvColumn {
  std::string name;
  std::vector<std::string> values;  // of a text column, in the order of their numbers; else empty
  double mean = 0;                  // of a number column; what missing values were given
  int64_t missing = 0;
};

struct CsvDataset {
  Dataset dataset;
  std::vector<CsvColumn> features;
  std::vector<std::string> classes;  // names, where labels are text or whole numbers
  int64_t missing_labels = 0;
};

CsvDataset build_csv(const CsvOptions& options);

// mapping/columns.json of the dataset directory.
std::string to_json(const CsvDataset& built, const CsvOptions& options);

}  // namespace egc::data
