#include "egc/data/slice.h"

#include "egc/core/error.h"

namespace egc::data {
namespace {

template <class T>
Array<T> part(const Array<T>& a, int64_t begin, int64_t end) {
  if (a.empty()) return {};
  return {std::make_shared<Array<T>>(a),
          a.span().subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin))};
}

template <class T>
Matrix<T> part(const Matrix<T>& m, int64_t begin, int64_t end) {
  return {part(m.values, begin * m.columns, end * m.columns), m.columns};
}

// Counted from the first on.
std::vector<int64_t> rebased(const Array<int64_t>& from, int64_t first, int64_t count) {
  std::vector<int64_t> out;
  for (int64_t k = first; k <= first + count; ++k) out.push_back(from[k] - from[first]);
  return out;
}

}  // namespace

Dataset slice(const Dataset& d, int64_t first, int64_t count) {
  check(d.hetero.empty() && first >= 0 && count >= 0 && first + count <= d.num_graphs(),
        "slice: {} has {} graphs, asked for {} from {}", d.info.name, d.num_graphs(), count, first);
  const int64_t node = d.first_node[first];
  const int64_t node_end = d.first_node[first + count];
  const int64_t edge = d.first_edge[first];
  const int64_t edge_end = d.first_edge[first + count];
  Dataset out;
  out.info = d.info;
  out.first_node = rebased(d.first_node, first, count);
  out.first_edge = rebased(d.first_edge, first, count);
  out.edges = part(d.edges, edge, edge_end);
  out.node_features = {part(d.node_features.floats, node, node_end),
                       part(d.node_features.categories, node, node_end)};
  out.edge_features = {part(d.edge_features.floats, edge, edge_end),
                       part(d.edge_features.categories, edge, edge_end)};
  out.edge_weights = part(d.edge_weights, edge, edge_end);
  out.node_is_attributed = part(d.node_is_attributed, node, node_end);
  out.node_targets = part(d.node_targets, node, node_end);
  out.encodings = part(d.encodings, node, node_end);
  const bool of_graphs = is_graph_task(d.info.task);
  const int64_t row = of_graphs ? first : node;
  const int64_t row_end = of_graphs ? first + count : node_end;
  out.labels.values = part(d.labels.values, row, row_end);
  out.labels.classes = part(d.labels.classes, row, row_end);
  if (d.labels.tokens.size() > 0)  // lines keep their places in the text
    out.labels.tokens = {part(d.labels.tokens.first_byte, row, row_end + 1), d.labels.tokens.bytes};
  return out;
}

}  // namespace egc::data
