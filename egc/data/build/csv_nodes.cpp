#include "egc/data/build/csv_nodes.h"

#include "egc/core/error.h"

namespace egc::data {

NodeOrder order_nodes(const CsvTable& nodes, const std::string& graph_id) {
  NodeOrder out;
  std::vector<std::vector<int64_t>> members;
  std::unordered_map<std::string, size_t> index;
  for (int64_t r = 0; r < nodes.rows(); ++r) {
    const std::string name = graph_id.empty() ? "" : nodes.at(graph_id)[r];
    check_data(graph_id.empty() || !name.empty(), "{}: missing graph id", nodes.where(r));
    const auto [it, fresh] = index.try_emplace(name, out.graphs.size());
    if (fresh) {
      out.graphs.push_back(name);
      members.emplace_back();
    }
    members[it->second].push_back(r);
  }
  for (size_t g = 0; g < members.size(); ++g) {
    out.row.insert(out.row.end(), members[g].begin(), members[g].end());
    out.graph_of.insert(out.graph_of.end(), members[g].size(), static_cast<int32_t>(g));
    out.first_node.push_back(static_cast<int64_t>(out.row.size()));
  }
  return out;
}

NodeNames::NodeNames(const CsvTable& nodes, const std::string& id, const NodeOrder& order,
                     bool per_graph)
    : per_graph_(per_graph) {
  for (size_t node = 0; node < order.row.size(); ++node) {
    const int64_t row = order.row[node];
    const std::string& name = nodes.at(id)[row];
    check_data(!name.empty(), "{}: missing node id", nodes.where(row));
    const auto [it, fresh] = index_.try_emplace(key(order.graphs[order.graph_of[node]], name),
                                                static_cast<int64_t>(node));
    if (!fresh)
      fail(ErrorKind::kData, "{}: duplicate node id \"{}\", first used in line {}",
           nodes.where(row), name, nodes.lines[order.row[it->second]]);
  }
}

int64_t NodeNames::find(const std::string& graph, const std::string& name) const {
  const auto it = index_.find(key(graph, name));
  return it == index_.end() ? -1 : it->second;
}

std::string NodeNames::key(const std::string& graph, const std::string& name) const {
  return per_graph_ ? graph + '\n' + name : name;
}

}  // namespace egc::data
