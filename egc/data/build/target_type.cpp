#include "egc/data/build/target_type.h"

#include "egc/core/error.h"

namespace egc::data {

Dataset only_target_type(const Dataset& d) {
  check(!d.hetero.empty(), "{} has a single node type already", d.info.name);
  const HeteroParts& h = d.hetero;
  const auto target = static_cast<size_t>(h.target_type);
  Dataset out;
  out.info = d.info;
  out.info.name = fmt::format("{}-{}s", d.info.name, h.schema.node_types[target]);
  out.info.task = Task::kNodeClassification;
  out.info.add_inverse_edge = false;
  out.info.node_features = h.features[target].kind();
  out.node_features = h.features[target];
  std::vector<int32_t> edges;
  for (size_t r = 0; r < h.edges.size(); ++r) {
    const auto& relation = h.schema.relations[r];
    if (relation.source != h.target_type || relation.target != h.target_type) continue;
    const auto values = h.edges[r].values.span();
    edges.insert(edges.end(), values.begin(), values.end());
  }
  const auto num_edges = static_cast<int64_t>(edges.size()) / 2;
  out.edges = {std::move(edges), 2};
  out.first_node = std::vector<int64_t>{0, h.num_nodes[target]};
  out.first_edge = std::vector<int64_t>{0, num_edges};
  out.labels = d.labels;
  out.splits = d.splits;
  return out;
}

}  // namespace egc::data
