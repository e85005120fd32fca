// The table of edges: their ends, and its further columns as features of edges.
#pragma once

#include <string>
#include <vector>

#include "egc/data/build/build_csv.h"
#include "egc/data/build/csv_nodes.h"
#include "egc/data/formats/csv_table.h"

namespace egc::data {

// A table of edges and what its columns are.
struct EdgeTable {
  CsvTable table;
  std::string source;
  std::string target;
  std::string graph;              // of an edge's graph; empty: node ids are unique
  std::string weight;             // of the weights; empty: edges have none
  std::vector<std::string> rest;  // the other columns
  std::vector<int64_t> row;       // in the table, of each edge of the dataset
};

// Reads the table and fills first_node, first_edge, edges and edge_weights of the dataset.
EdgeTable add_edges(const CsvTable& nodes, const CsvOptions& options, const std::string& id,
                    const NodeOrder& order, Dataset& dataset);

// Columns that may be features: everything that is not ignored.
std::vector<std::string> edge_feature_names(const EdgeTable& edges, const CsvOptions& options);

// Numbers become floats, and texts beside them columns of 0 and 1; texts alone become categories.
void add_edge_features(const EdgeTable& edges, const CsvOptions& options, CsvDataset& out);

}  // namespace egc::data
