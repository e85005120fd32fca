// Which node of a dataset a row of the node table is, and which node an edge means by a name.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "egc/data/formats/csv_table.h"

namespace egc::data {

// Nodes in the order of their graphs, graphs in the order of their names' first appearance.
struct NodeOrder {
  std::vector<std::string> graphs;
  std::vector<int64_t> first_node = {0};
  std::vector<int64_t> row;       // of each node, in the node table
  std::vector<int32_t> graph_of;  // of each node
};

// graph_id: the column with a node's graph; empty: one graph.
NodeOrder order_nodes(const CsvTable& nodes, const std::string& graph_id);

// Ends of edges are node ids, which are unique; with the edges' own graph ids, within a graph.
class NodeNames {
 public:
  NodeNames(const CsvTable& nodes, const std::string& id, const NodeOrder& order, bool per_graph);

  // The node, or -1.
  int64_t find(const std::string& graph, const std::string& name) const;

 private:
  std::string key(const std::string& graph, const std::string& name) const;

  bool per_graph_;
  std::unordered_map<std::string, int64_t> index_;
};

}  // namespace egc::data
