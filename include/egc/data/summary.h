// Counts and statistics of a dataset, for people and for checking a copy.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

struct Range {
  int64_t min = 0;
  int64_t max = 0;
  double mean = 0;
};

// The labels of some graphs or nodes.
struct LabelSummary {
  int64_t items = 0;
  int64_t labelled = 0;
  double mean = 0;  // regression and binary tasks: of all values
  double std = 0;   // of the population
  double min = 0;
  double max = 0;
  std::vector<int64_t> classes;  // how many of each class
  double mean_words = 0;         // sequences
};

struct Summary {
  int64_t graphs = 0;
  int64_t nodes = 0;
  int64_t edges = 0;           // as stored
  int64_t training_edges = 0;  // as networks see them, inverses included
  Range graph_nodes;
  Range graph_edges;
  int64_t features = 0;
  LabelSummary labels;
  std::array<LabelSummary, 3> parts;  // of the split
  int64_t bytes = 0;
};

// `split`: a name, or empty for the first; without any split the parts are empty.
Summary summarize(const Dataset& dataset, const std::string& split = "");

}  // namespace egc::data
