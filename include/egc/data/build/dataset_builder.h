// Building datasets graph by graph.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// One graph.
struct GraphRecord {
  int64_t num_nodes = 0;                 // number of nodes N
  std::vector<int32_t> edges;            // [E, 2]: source, target
  std::vector<float> node_floats;        // [N, columns], or
  std::vector<int32_t> node_categories;  // [N, columns]
  std::vector<int32_t> edge_categories;  // [E, columns]
  std::vector<float> values;             // labels of the graph: regression and binary tasks
  std::vector<int32_t> classes;          // class of the graph, or of each node
  std::vector<float> node_targets;       // [N, columns]
};

// Collects graphs and makes a dataset of them.
class DatasetBuilder {
 public:
  // Columns of the matrices; 0: there is none.
  struct Columns {
    int64_t node = 0;         // of node features
    int64_t edge = 0;         // of edge features
    int64_t label = 1;        // of values
    int64_t node_target = 0;  // of node_targets
  };

  // Makes a builder; all graphs have these columns.
  explicit DatasetBuilder(const Columns& columns) : columns_(columns) {}

  void add(const GraphRecord& graph);  // appends a graph
  // Number of graphs so far.
  int64_t num_graphs() const { return static_cast<int64_t>(first_node_.size()) - 1; }

  // Moves everything into a dataset; the caller sets info and splits.
  Dataset finish();

 private:
  Columns columns_;
  std::vector<int64_t> first_node_ = {0};
  std::vector<int64_t> first_edge_ = {0};
  GraphRecord all_;
};

}  // namespace egc::data
