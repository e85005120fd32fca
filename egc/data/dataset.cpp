#include "egc/data/dataset.h"

#include <cmath>
#include <numeric>

#include "egc/core/error.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

void check_features(const Features& features, int64_t rows, const std::vector<int64_t>& categories,
                    const std::string& where) {
  if (features.empty()) return;
  check_data(features.rows() == rows, "{}: expected {} rows of features, got {}", where, rows,
             features.rows());
  for (const float value : features.floats.values)
    check_data(std::isfinite(value), "{}: features must be finite, got {}", where, value);
  if (features.categories.empty()) return;
  check_data(static_cast<int64_t>(categories.size()) == features.columns(),
             "{}: {} columns of features need as many numbers of categories, got {}", where,
             features.columns(), categories.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < features.columns(); ++j)
      check_data(features.categories.at(i, j) >= 0 && features.categories.at(i, j) < categories[j],
                 "{}: feature {} of row {} must be in [0, {}), got {}", where, j, i, categories[j],
                 features.categories.at(i, j));
}

void check_edges(std::span<const int32_t> edges, int64_t sources, int64_t targets,
                 const std::string& where) {
  for (size_t e = 0; e < edges.size(); e += 2)
    check_data(edges[e] >= 0 && edges[e] < sources && edges[e + 1] >= 0 && edges[e + 1] < targets,
               "{}: edge {} joins {} and {}, expected ids in [0, {}) and [0, {})", where, e / 2,
               edges[e], edges[e + 1], sources, targets);
}

void check_bounds(const Array<int64_t>& first, int64_t graphs, int64_t total,
                  const std::string& where) {
  check_data(first.size() == graphs + 1 && first[0] == 0 && first.back() == total,
             "{}: expected {} bounds from 0 to {}", where, graphs + 1, total);
  for (int64_t k = 0; k < graphs; ++k)
    check_data(first[k] <= first[k + 1], "{}: bound {} is below the one before", where, k + 1);
}

void check_homogeneous(const Dataset& d, const std::string& where) {
  const int64_t graphs = d.num_graphs();
  check_data(!d.first_node.empty(), "{}: expected at least the bounds of no graph", where);
  check_bounds(d.first_node, graphs, d.first_node.back(), where + ": first_node");
  check_bounds(d.first_edge, graphs, d.edges.rows(), where + ": first_edge");
  for (int64_t k = 0; k < graphs; ++k) {
    const Sample s = d.sample(k);
    check_edges(s.edges, s.num_nodes, s.num_nodes, fmt::format("{}: graph {}", where, k));
  }
  check_features(d.node_features, d.num_nodes(), d.info.categories, where + ": nodes");
  check_features(d.edge_features, d.num_edges(), d.info.edge_categories, where + ": edges");
}

void check_hetero(const Dataset& d, const std::string& where) {
  const HeteroParts& h = d.hetero;
  check_schema(h.schema);
  check_data(h.num_nodes.size() == h.schema.node_types.size() &&
                 h.features.size() == h.schema.node_types.size() &&
                 h.edges.size() == h.schema.relations.size(),
             "{}: node types and relations disagree with their data", where);
  check_data(h.target_type >= 0 && h.target_type < static_cast<int64_t>(h.schema.node_types.size()),
             "{}: no node type {} to classify", where, h.target_type);
  for (size_t r = 0; r < h.edges.size(); ++r) {
    const auto& relation = h.schema.relations[r];
    check_edges(h.edges[r].values, h.num_nodes[relation.source], h.num_nodes[relation.target],
                fmt::format("{}: relation {}", where, relation.name));
  }
  for (size_t t = 0; t < h.features.size(); ++t)
    check_features(h.features[t], h.num_nodes[t], {},
                   fmt::format("{}: {}", where, h.schema.node_types[t]));
}

}  // namespace

int64_t Dataset::num_nodes() const {
  if (!hetero.empty())
    return std::accumulate(hetero.num_nodes.begin(), hetero.num_nodes.end(), int64_t{0});
  return first_node.empty() ? 0 : first_node.back();
}

int64_t Dataset::num_edges() const {
  int64_t sum = edges.rows();
  for (const auto& relation : hetero.edges) sum += relation.rows();
  return sum;
}

int64_t Dataset::num_items() const {
  if (!hetero.empty()) return hetero.num_nodes[hetero.target_type];
  return splits_nodes() ? num_nodes() : num_graphs();
}

Sample Dataset::sample(int64_t k) const {
  check(k >= 0 && k < num_graphs() && hetero.empty(), "{}: no graph {}, there are {}", info.name, k,
        hetero.empty() ? num_graphs() : 0);
  Sample out;
  out.first_node = first_node[k];
  out.num_nodes = first_node[k + 1] - first_node[k];
  out.first_edge = first_edge[k];
  out.edges =
      edges.values.span().subspan(static_cast<size_t>(2 * first_edge[k]),
                                  static_cast<size_t>(2 * (first_edge[k + 1] - first_edge[k])));
  return out;
}

const Split& Dataset::split(const std::string& name) const {
  std::vector<std::string> known;
  for (const Split& s : splits) {
    if (name.empty() || s.name == name) return s;
    known.push_back(s.name);
  }
  if (known.empty()) fail(ErrorKind::kData, "{} has no split", info.name);
  fail(ErrorKind::kUsage, "{} has no split \"{}\"; known: {}", info.name, name,
       fmt::join(known, ", "));
}

int64_t Dataset::num_bytes() const {
  int64_t sum = 0;
  visit_arrays(*this, [&](const std::string&, const auto& array) {
    sum += static_cast<int64_t>(array.num_bytes());
  });
  return sum;
}

void check_dataset(const Dataset& d, const std::string& where) {
  d.hetero.empty() ? check_homogeneous(d, where) : check_hetero(d, where);
  const bool of_graphs = is_graph_task(d.info.task);
  const int64_t labelled = of_graphs           ? d.num_graphs()
                           : !d.hetero.empty() ? d.num_items()
                                               : d.num_nodes();
  check_data(d.labels.rows() == labelled, "{}: expected {} labels, got {}", where, labelled,
             d.labels.rows());
  for (const int32_t c : d.labels.classes)
    check_data(c >= -1 && c < d.info.num_classes, "{}: a class must be in [0, {}) or -1, got {}",
               where, d.info.num_classes, c);
  for (const Split& split : d.splits)
    check_split(split, d.num_items(), fmt::format("{}: split {}", where, split.name));
}

}  // namespace egc::data
