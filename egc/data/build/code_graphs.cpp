#include "egc/data/build/code_graphs.h"

namespace egc::data {

Dataset code_dataset(const std::vector<CodeGraph>& graphs, int64_t types, int64_t attributes) {
  std::vector<int64_t> first_node = {0};
  std::vector<int64_t> first_edge = {0};
  std::vector<int64_t> first_byte = {0};
  std::vector<int32_t> edges;
  std::vector<int32_t> features;
  std::vector<uint8_t> attributed;
  std::vector<char> bytes;
  for (const CodeGraph& g : graphs) {
    edges.insert(edges.end(), g.edges.begin(), g.edges.end());
    features.insert(features.end(), g.features.begin(), g.features.end());
    attributed.insert(attributed.end(), g.attributed.begin(), g.attributed.end());
    bytes.insert(bytes.end(), g.name.begin(), g.name.end());
    first_node.push_back(std::ssize(attributed));
    first_edge.push_back(std::ssize(edges) / 2);
    first_byte.push_back(std::ssize(bytes));
  }
  Dataset d;
  d.first_node = std::move(first_node);
  d.first_edge = std::move(first_edge);
  d.edges = {std::move(edges), 2};
  d.node_features.categories = {std::move(features), 3};
  d.node_is_attributed = std::move(attributed);
  d.labels.tokens = {std::move(first_byte), std::move(bytes)};
  d.info.task = Task::kGraphSequence;
  d.info.metric = Metric::kF1;
  d.info.node_features = FeatureKind::kCategorical;
  d.info.categories = {types, attributes, kAstDepths};
  return d;
}

}  // namespace egc::data
