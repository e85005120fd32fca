// Datasets from a user's tables: nodes with ids, labels and features, and edges between ids.
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

// Which tables and columns make the dataset.
struct CsvOptions {
  std::filesystem::path edges;      // columns source and target, or the first two; features
  std::filesystem::path nodes;      // a row per node
  std::string edge_weight;          // column of `edges` with their weights; empty: none
  std::string id;                   // column of node ids; empty: "id", or the first
  std::string label;                // column of `nodes`, or of `graphs` if given
  std::string graph_id;             // column with the graph of a node; empty: one graph
  std::filesystem::path graphs;     // table with graph_id and label; empty: nodes have the labels
  std::string split;                // column with train, valid or test; empty: "split" if it exists
  std::vector<std::string> ignore;  // columns that are not features, of nodes and of edges
  std::map<std::string, ColumnKind> columns;  // kinds of columns that the user sets, likewise
  TextFeatures text = TextFeatures::kOneHot;  // how text becomes features of nodes
  std::optional<Task> task;                   // empty: from the labels
  bool undirected = false;                    // every edge counts in both directions
  // Of training, validation and test set, if drawn.
  std::array<double, 3> fractions = {0.8, 0.1, 0.1};
  uint64_t seed = 0;  // of the split
  std::string name;   // of the dataset

  // For predictions: make the features of this dataset, without labels and split.
  const DatasetInfo* like = nullptr;
};

// A column that is not a feature, such as names or notes; predictions include it.
struct ExtraColumn {
  std::string name;                 // header of the column
  std::vector<std::string> values;  // one per item of the dataset
};

// A dataset from tables, and how it was made.
struct CsvDataset {
  Dataset dataset;                    // info.columns says how columns became features
  std::vector<ColumnPlan> plan;       // of every column that could be a feature
  std::vector<ColumnGaps> gaps;       // of each column of the dataset
  std::vector<ColumnPlan> edge_plan;  // of every column that could be a feature of edges
  std::vector<ColumnGaps> edge_gaps;  // of each edge column of the dataset
  std::vector<std::string> notices;   // sentences for the user
  std::vector<std::string> classes;   // names, where labels are text or whole numbers
  int64_t missing_labels = 0;         // number of items without a label
  std::string split_column;           // where the split came from; empty: drawn
  std::string id_column;              // of the table of nodes
  std::vector<std::string> nodes;     // ids, in the order of the dataset
  std::vector<std::string> graphs;    // ids, in the order of the dataset
  std::vector<ExtraColumn> extra;     // of nodes, where they are the items
};

// Builds a dataset. Throws kData with file and line for invalid tables, kUsage for unknown columns.
CsvDataset build_csv(const CsvOptions& options);

}  // namespace egc::data
