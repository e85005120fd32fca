#include "egc/data/dataset.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/data/splits.h"
#include "egc/data/weight_conflict.h"

namespace egc::data {
namespace {

constexpr int64_t kRowsPerTask = 1 << 13;

// Calls f(row) -> bool for all rows in parallel; the first row for which it is false, or -1.
template <class F>
int64_t first_bad_row(int64_t rows, F&& f) {
  std::atomic<int64_t> bad{rows};
  parallel_tasks((rows + kRowsPerTask - 1) / kRowsPerTask, [&](int64_t task) {
    for (int64_t i = task * kRowsPerTask; i < std::min(rows, (task + 1) * kRowsPerTask); ++i) {
      if (f(i)) continue;
      int64_t seen = bad;
      while (i < seen && !bad.compare_exchange_weak(seen, i)) {
      }
      return;
    }
  });
  return bad == rows ? -1 : bad.load();
}

void check_features(const Features& features, int64_t rows, const std::vector<int64_t>& categories,
                    const std::string& where) {
  if (features.empty()) return;
  check_data(features.rows() == rows, "{}: expected {} rows of features, got {}", where, rows,
             features.rows());
  const auto& floats = features.floats;
  const int64_t not_finite = first_bad_row(floats.rows(), [&](int64_t i) {
    const auto row = floats.row(i);
    return std::all_of(row.begin(), row.end(), [](float v) { return std::isfinite(v); });
  });
  check_data(not_finite < 0, "{}: the features of row {} must be finite", where, not_finite);
  if (features.categories.empty()) return;
  const int64_t columns = features.categories.columns;
  check_data(static_cast<int64_t>(categories.size()) == columns,
             "{}: expected a number of categories for each of the {} feature columns, got {}",
             where, columns, categories.size());
  // A row at a time would be slower than reading them: blocks of rows side by side, which the
  // compiler makes wide; negative values are huge as unsigned ones.
  constexpr int64_t kBlock = 16;
  std::vector<uint32_t> limits;
  for (int64_t r = 0; r < kBlock; ++r)
    for (const int64_t count : categories) limits.push_back(static_cast<uint32_t>(count));
  const int32_t* const values = features.categories.values.span().data();
  const auto fine = [&](int64_t first, int64_t count) {
    const int32_t* const block = values + first * columns;
    uint32_t bad = 0;
    for (int64_t k = 0; k < count * columns; ++k)
      bad |= static_cast<uint32_t>(block[k]) >= limits[k] ? 1 : 0;
    return bad == 0;
  };
  const int64_t bad_block = first_bad_row((rows + kBlock - 1) / kBlock, [&](int64_t block) {
    return fine(block * kBlock, std::min(kBlock, rows - block * kBlock));
  });
  int64_t unknown = bad_block < 0 ? -1 : bad_block * kBlock;
  while (unknown >= 0 && fine(unknown, 1)) ++unknown;
  check_data(unknown < 0, "{}: row {} has a category outside the ranges {}", where, unknown,
             fmt::join(categories, ", "));
}

void check_edges(std::span<const int32_t> edges, int64_t sources, int64_t targets,
                 const std::string& where) {
  const int64_t bad = first_bad_row(static_cast<int64_t>(edges.size()) / 2, [&](int64_t e) {
    return edges[2 * e] >= 0 && edges[2 * e] < sources && edges[2 * e + 1] >= 0 &&
           edges[2 * e + 1] < targets;
  });
  if (bad >= 0)
    fail(ErrorKind::kData, "{}: edge {} joins {} and {}, expected ids in [0, {}) and [0, {})",
         where, bad, edges[2 * bad], edges[2 * bad + 1], sources, targets);
}

void check_bounds(const Array<int64_t>& first, int64_t graphs, int64_t total,
                  const std::string& where) {
  check_data(first.size() == graphs + 1 && first[0] == 0 && first.back() == total,
             "{}: expected {} bounds from 0 to {}", where, graphs + 1, total);
  for (int64_t k = 0; k < graphs; ++k)
    check_data(first[k] <= first[k + 1], "{}: bound {} is below the previous one", where, k + 1);
}

void check_weights(const Dataset& d, const std::string& where) {
  const auto& weights = d.edge_weights;
  if (weights.empty()) return;
  check_data(weights.size() == d.num_edges(), "{}: expected {} edge weights, got {}", where,
             d.num_edges(), weights.size());
  const int64_t bad =
      first_bad_row(weights.size(), [&](int64_t e) { return std::isfinite(weights[e]); });
  if (bad >= 0)
    fail(ErrorKind::kData, "{}: the weight of edge {} must be finite, got {}", where, bad,
         weights[bad]);
  if (const auto conflict = find_weight_conflict(d, d.info.undirected))
    fail(ErrorKind::kData,
         "{}: edges {} and {} join the same nodes with the weights {} and {}; edges of undirected "
         "graphs have one weight",
         where, conflict->first, conflict->second, d.edge_weights[conflict->first],
         d.edge_weights[conflict->second]);
  check_data(d.node_is_attributed.empty(), "{}: edges of syntax trees have no weights", where);
}

void check_homogeneous(const Dataset& d, const std::string& where) {
  const int64_t graphs = d.num_graphs();
  check_data(!d.first_node.empty(), "{}: expected at least one bound", where);
  check_bounds(d.first_node, graphs, d.first_node.back(), where + ": first_node");
  check_data(d.edges.columns == 2 && d.edges.values.size() % 2 == 0,
             "{}: an edge has two ends, got {} columns", where, d.edges.columns);
  check_bounds(d.first_edge, graphs, d.edges.rows(), where + ": first_edge");
  const int64_t bad = first_bad_row(graphs, [&](int64_t k) {
    const Sample s = d.sample(k);
    return std::all_of(s.edges.begin(), s.edges.end(),
                       [&](int32_t end) { return end >= 0 && end < s.num_nodes; });
  });
  check_data(bad < 0, "{}: graph {} has an edge to a node outside the graph", where, bad);
  check_data(d.node_is_attributed.empty() || d.node_is_attributed.size() == d.num_nodes(),
             "{}: node_is_attributed must have {} rows, got {}", where, d.num_nodes(),
             d.node_is_attributed.size());
  check_data(d.node_targets.empty() || d.node_targets.rows() == d.num_nodes(),
             "{}: node_targets must have {} rows, got {}", where, d.num_nodes(),
             d.node_targets.rows());
  check_features(d.node_features, d.num_nodes(), d.info.categories, where + ": nodes");
  check_features(d.edge_features, d.num_edges(), d.info.edge_categories, where + ": edges");
  check_weights(d, where);
}

void check_labels(const Dataset& d, const std::string& where) {
  for (const int32_t c : d.labels.classes)
    check_data(c >= -1 && c < d.info.num_classes, "{}: a class must be in [0, {}) or -1, got {}",
               where, d.info.num_classes, c);
  const bool bits = d.info.task == Task::kGraphBinary;
  for (const float v : d.labels.values.values)
    check_data(!std::isinf(v) && (!bits || std::isnan(v) || v == 0 || v == 1),
               "{}: a label must be {}, got {}", where, bits ? "0 or 1" : "finite", v);
  const auto& tokens = d.labels.tokens;
  if (tokens.size() > 0)
    check_bounds(tokens.first_byte, tokens.size(), tokens.bytes.size(), where + ": labels");
}

void check_hetero(const Dataset& d, const std::string& where) {
  const HeteroParts& h = d.hetero;
  try {
    check_schema(h.schema);
  } catch (const Error& e) {
    fail(ErrorKind::kData, "{}: {}", where, e.what());
  }
  check_data(h.num_nodes.size() == h.schema.node_types.size() &&
                 h.features.size() == h.schema.node_types.size() &&
                 h.edges.size() == h.schema.relations.size(),
             "{}: node types and relations do not match their data", where);
  check_data(h.target_type >= 0 && h.target_type < static_cast<int64_t>(h.schema.node_types.size()),
             "{}: no node type {} to classify", where, h.target_type);
  for (size_t r = 0; r < h.edges.size(); ++r) {
    const auto& relation = h.schema.relations[r];
    check_data(h.edges[r].empty() || h.edges[r].columns == 2, "{}: an edge has two ends", where);
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
  check(k >= 0 && k < num_graphs() && hetero.empty(), "{}: no graph {}; it has {} graphs",
        info.name, k, hetero.empty() ? num_graphs() : 0);
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

void check_graphs(const Dataset& d, const std::string& where) {
  d.hetero.empty() ? check_homogeneous(d, where) : check_hetero(d, where);
}

void check_dataset(const Dataset& d, const std::string& where) {
  check_graphs(d, where);
  const bool of_graphs = is_graph_task(d.info.task);
  const int64_t labelled = of_graphs           ? d.num_graphs()
                           : !d.hetero.empty() ? d.num_items()
                                               : d.num_nodes();
  check_data(d.labels.rows() == labelled, "{}: expected {} labels, got {}", where, labelled,
             d.labels.rows());
  check_labels(d, where);
  for (const Split& split : d.splits)
    check_split(split, d.num_items(), fmt::format("{}: split {}", where, split.name));
}

}  // namespace egc::data
