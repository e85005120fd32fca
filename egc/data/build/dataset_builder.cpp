#include "egc/data/build/dataset_builder.h"

namespace egc::data {
namespace {

template <class T>
void append(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// What is not there has no columns, as if read from files.
template <class T>
Matrix<T> matrix(std::vector<T>& values, int64_t columns) {
  if (values.empty()) return {};
  return {std::move(values), columns};
}

}  // namespace

void DatasetBuilder::add(const GraphRecord& g) {
  first_node_.push_back(first_node_.back() + g.num_nodes);
  first_edge_.push_back(first_edge_.back() + static_cast<int64_t>(g.edges.size()) / 2);
  append(g.edges, all_.edges);
  append(g.node_floats, all_.node_floats);
  append(g.node_categories, all_.node_categories);
  append(g.edge_categories, all_.edge_categories);
  append(g.values, all_.values);
  append(g.classes, all_.classes);
  append(g.node_targets, all_.node_targets);
}

Dataset DatasetBuilder::finish() {
  Dataset d;
  d.first_node = std::move(first_node_);
  d.first_edge = std::move(first_edge_);
  d.edges = {std::move(all_.edges), 2};
  d.node_features.floats = matrix(all_.node_floats, columns_.node);
  d.node_features.categories = matrix(all_.node_categories, columns_.node);
  d.edge_features.categories = matrix(all_.edge_categories, columns_.edge);
  d.labels.values = matrix(all_.values, columns_.label);
  d.labels.classes = std::move(all_.classes);
  d.node_targets = matrix(all_.node_targets, columns_.node_target);
  d.info.node_features = d.node_features.kind();
  d.info.edge_features = d.edge_features.kind();
  d.info.num_targets = columns_.label;
  return d;
}

}  // namespace egc::data
