// Statistics of datasets, for people and for verifying copies.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// Minimum, maximum and mean of a count.
struct Range {
  int64_t min = 0;  // smallest
  int64_t max = 0;  // largest
  double mean = 0;  // average
};

// The labels of some graphs or nodes.
struct LabelSummary {
  int64_t items = 0;             // graphs or nodes
  int64_t labelled = 0;          // items with a label
  double mean = 0;               // regression and binary tasks: of all values
  double std = 0;                // of the population
  double min = 0;                // smallest value
  double max = 0;                // largest value
  std::vector<int64_t> classes;  // items of each class
  double mean_words = 0;         // sequence tasks: words per item
};

// Statistics of a dataset.
struct Summary {
  int64_t graphs = 0;                 // number of graphs
  int64_t nodes = 0;                  // number of nodes
  int64_t edges = 0;                  // as stored
  int64_t training_edges = 0;         // as networks see them, inverses included
  Range graph_nodes;                  // nodes per graph
  Range graph_edges;                  // edges per graph
  int64_t features = 0;               // columns of node features
  int64_t edge_features = 0;          // columns of edge features
  double min_edge_weight = 1;         // smallest weight of an edge
  double max_edge_weight = 1;         // largest
  LabelSummary labels;                // of all items
  std::array<LabelSummary, 3> parts;  // of training, validation and test set
  int64_t bytes = 0;                  // size in memory
};

// Computes the statistics. split: a name; empty: the first, if there is one.
Summary summarize(const Dataset& dataset, const std::string& split = "");

}  // namespace egc::data
