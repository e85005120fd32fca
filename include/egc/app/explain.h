// What carried a network's outputs: shares of aggregators, bases and heads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/app/input_chunks.h"

namespace egc::app {

// Shares of squared norms, means over nodes.
struct ExplainLayer {
  std::vector<double> aggregators, bases, heads;
};
struct ExplainResult {
  int64_t nodes = 0;
  std::vector<std::string> aggregators;  // their names
  std::vector<ExplainLayer> layers;
  std::vector<double> all;  // of the aggregators, mean over layers
};
struct ExplainOptions {
  std::string model;
  std::string part;  // of the dataset's first split; empty: everything
  std::string out;   // a directory; empty: none
  int64_t pictures = 1;
};

ExplainResult explain(const ExplainOptions& options, const OpenInput& open);

}  // namespace egc::app
