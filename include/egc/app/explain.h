// Explanations: how much aggregators, bases and heads contribute to the outputs of EGC.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/app/input_chunks.h"

namespace egc::app {

// Shares of squared norms in one layer, averaged over nodes; each list has the sum 1.
struct ExplainLayer {
  std::vector<double> aggregators;  // share of each aggregator
  std::vector<double> bases;        // share of each basis
  std::vector<double> heads;        // share of each head
};
// An explanation of a network.
struct ExplainResult {
  int64_t nodes = 0;                     // number of nodes it is based on
  std::vector<std::string> aggregators;  // names
  std::vector<ExplainLayer> layers;      // in the network's order
  std::vector<double> all;               // shares of the aggregators, averaged over layers
};
// Options of explain().
struct ExplainOptions {
  std::string model;     // a model file or run directory
  std::string part;      // train, valid or test of the first split; empty: all
  std::string out;       // directory for pages with pictures; empty: none
  int64_t pictures = 1;  // number of graphs to draw
};

// Explains a model on an input.
ExplainResult explain(const ExplainOptions& options, const OpenInput& open);

}  // namespace egc::app
