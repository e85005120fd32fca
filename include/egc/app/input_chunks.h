// What a model is asked about, some graphs at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/build/build_csv.h"
#include "egc/data/dataset.h"

namespace egc::app {

// What the input says of each graph or node goes along, so that predictions can be joined with it.
struct PredictChunk {
  data::Dataset dataset;
  std::vector<int64_t> numbers;  // of the graphs in the input; empty: one after the other
  std::vector<std::string> ids;  // of the nodes, where the input has ids
  bool named = false;
  std::vector<std::string> names;        // where they are named
  std::vector<data::ExtraColumn> extra;  // further columns
};

// Nothing at the end.
using NextChunk = std::function<std::optional<PredictChunk>()>;
using OpenInput = std::function<NextChunk(const data::DatasetInfo& trained_on)>;

}  // namespace egc::app
