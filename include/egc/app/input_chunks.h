// Input of predictions, in chunks of graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/build/build_csv.h"
#include "egc/data/dataset.h"

namespace egc::app {

// Some graphs, with the ids, names and further columns that predictions repeat.
struct PredictChunk {
  data::Dataset dataset;                 // without labels
  std::vector<int64_t> numbers;          // row of each graph in the input; empty: consecutive
  std::vector<std::string> ids;          // of the nodes, if the input has ids
  bool named = false;                    // whether the input has names
  std::vector<std::string> names;        // of the items
  std::vector<data::ExtraColumn> extra;  // further columns
};

// Returns the next chunk; nothing at the end.
using NextChunk = std::function<std::optional<PredictChunk>()>;
// Opens an input, given the description of the model's training data.
using OpenInput = std::function<NextChunk(const data::DatasetInfo& trained_on)>;

}  // namespace egc::app
