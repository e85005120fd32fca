// Puts a dataset together graph by graph.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::data {

// One graph, on its own: what generators and converters make.
struct GraphRecord {
  int64_t num_nodes = 0;
  std::vector<int32_t> edges;            // [E, 2]
  std::vector<float> node_floats;        // [N, columns], or
  std::vector<int32_t> node_categories;  // [N, columns]
  std::vector<int32_t> edge_categories;  // [E, columns]
  std::vector<float> values;             // labels: of the graph, or
  std::vector<int32_t> classes;          // of the graph, or of its nodes
  std::vector<float> node_targets;
};

class DatasetBuilder {
 public:
  // Columns of the matrices, where there are any.
  struct Columns {
    int64_t node = 0;
    int64_t edge = 0;
    int64_t label = 1;
    int64_t node_target = 0;
  };

  explicit DatasetBuilder(const Columns& columns) : columns_(columns) {}

  void add(const GraphRecord& graph);
  int64_t num_graphs() const { return static_cast<int64_t>(first_node_.size()) - 1; }

  // Moves everything into a dataset; the caller adds info and splits.
  Dataset finish();

 private:
  Columns columns_;
  std::vector<int64_t> first_node_ = {0};
  std::vector<int64_t> first_edge_ = {0};
  GraphRecord all_;
};

}  // namespace egc::data
