// A dataset from tables of one's own: nodes with an id, a label and features, and edges between
// ids.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/build/csv_features.h"
#include "egc/data/dataset.h"

namespace egc::data {

struct CsvOptions {
  std::filesystem::path edges;  // columns source and target, or the first two
  std::filesystem::path nodes;
  std::string id;                   // column of the node's id; empty: "id", or the first
  std::string label;                // column of `nodes`, or of `graphs` where that is given
  std::string graph_id;             // column that tells which graph a node is of; empty: one graph
  std::filesystem::path graphs;     // table with graph_id and label; empty: labels stand with nodes
  std::string split;                // column of train, valid, test; empty: "split", if it is one
  std::vector<std::string> ignore;  // columns that are no features
  std::map<std::string, ColumnKind> columns;  // what the person says of columns
  TextFeatures text = TextFeatures::kOneHot;
  std::optional<Task> task;  // empty: from the labels
  bool undirected = false;   // every edge counts in both directions
  std::array<double, 3> fractions = {0.8, 0.1, 0.1};
  uint64_t seed = 0;
  std::string name;

  // For prediction: columns as they were learned for this dataset, no labels and no split.
  const DatasetInfo* like = nullptr;
};

// A column of the table that is no feature: names, notes, labels. It travels into predictions.
struct ExtraColumn {
  std::string name;
  std::vector<std::string> values;  // in the order of the dataset's items
};

struct CsvDataset {
  Dataset dataset;                   // info.columns tells what became of the columns
  std::vector<ColumnPlan> plan;      // of every column that could be a feature
  std::vector<ColumnGaps> gaps;      // of each column of the dataset
  std::vector<std::string> notices;  // what the person should know, a sentence each
  std::vector<std::string> classes;  // names, where labels are text or whole numbers
  int64_t missing_labels = 0;
  std::string split_column;         // where the split came from; empty: drawn
  std::string id_column;            // of the table of nodes
  std::vector<std::string> nodes;   // ids, in the order of the dataset
  std::vector<std::string> graphs;  // likewise
  std::vector<ExtraColumn> extra;   // of nodes, where they are the items
};

CsvDataset build_csv(const CsvOptions& options);

}  // namespace egc::data
