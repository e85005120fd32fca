#include "egc/data/summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "egc/data/partition/graph_store.h"
#include "egc/data/training_edges.h"

namespace egc::data {
namespace {

Range range_of(const Array<int64_t>& first) {
  if (first.size() < 2) return {};
  Range out{first[1], first[1],
            static_cast<double>(first.back()) / static_cast<double>(first.size() - 1)};
  for (int64_t k = 0; k + 1 < first.size(); ++k) {
    out.min = std::min(out.min, first[k + 1] - first[k]);
    out.max = std::max(out.max, first[k + 1] - first[k]);
  }
  return out;
}

// In two passes, so that nothing cancels.
void summarize_values(const Dataset& d, std::span<const int64_t> rows, LabelSummary& out) {
  double sum = 0;
  int64_t count = 0;
  const auto each = [&](auto&& f) {
    for (const int64_t row : rows)
      for (const float v : d.labels.values.row(row))
        if (!std::isnan(v)) f(v);
  };
  each([&](float v) {
    out.min = count == 0 ? v : std::min<double>(out.min, v);
    out.max = count == 0 ? v : std::max<double>(out.max, v);
    sum += v;
    ++count;
  });
  out.labelled = count;
  if (count == 0) return;
  out.mean = sum / static_cast<double>(count);
  double squares = 0;
  each([&](float v) { squares += (v - out.mean) * (v - out.mean); });
  out.std = std::sqrt(squares / static_cast<double>(count));
}

LabelSummary summarize_labels(const Dataset& d, std::span<const int64_t> rows) {
  LabelSummary out;
  out.items = static_cast<int64_t>(rows.size());
  if (!d.labels.values.empty()) summarize_values(d, rows, out);
  if (!d.labels.classes.empty()) {
    out.classes.resize(static_cast<size_t>(d.info.num_classes));
    for (const int64_t row : rows)
      if (const int32_t c = d.labels.classes[row]; c >= 0) {
        ++out.classes[c];
        ++out.labelled;
      }
  }
  if (d.labels.tokens.size() > 0) {
    size_t words = 0;
    for (const int64_t row : rows) {
      const size_t of_row = split_words(d.labels.tokens[row]).size();
      words += of_row;
      out.labelled += of_row > 0 ? 1 : 0;
    }
    out.mean_words =
        rows.empty() ? 0 : static_cast<double>(words) / static_cast<double>(rows.size());
  }
  return out;
}

// Labels of a part of a split: its ids, or the nodes of its graphs.
std::vector<int64_t> label_rows(const Dataset& d, std::span<const int64_t> ids) {
  if (is_graph_task(d.info.task) || d.splits_nodes() || !d.hetero.empty())
    return {ids.begin(), ids.end()};
  std::vector<int64_t> rows;
  for (const int64_t k : ids)
    for (int64_t i = d.first_node[k]; i < d.first_node[k + 1]; ++i) rows.push_back(i);
  return rows;
}

int64_t count_training_edges(const Dataset& d) {
  if (d.hetero.empty()) return GraphStore(d).num_edges();
  int64_t sum = 0;
  for (const Csr& relation : training_hetero_graph(d).relations) sum += relation.num_edges();
  return sum;
}

}  // namespace

Summary summarize(const Dataset& d, const std::string& split) {
  Summary out;
  out.graphs = d.num_graphs();
  out.nodes = d.num_nodes();
  out.edges = d.num_edges();
  out.training_edges = count_training_edges(d);
  if (d.hetero.empty()) {
    out.graph_nodes = range_of(d.first_node);
    out.graph_edges = range_of(d.first_edge);
    out.features = d.node_features.columns();
  } else {
    out.graph_nodes = {out.nodes, out.nodes, static_cast<double>(out.nodes)};
    out.graph_edges = {out.edges, out.edges, static_cast<double>(out.edges)};
    for (const Features& f : d.hetero.features) out.features = std::max(out.features, f.columns());
  }
  out.edge_features = d.edge_features.columns();
  if (!d.edge_weights.empty()) {
    const auto [least, most] = std::minmax_element(d.edge_weights.begin(), d.edge_weights.end());
    out.min_edge_weight = *least;
    out.max_edge_weight = *most;
  }
  std::vector<int64_t> all(static_cast<size_t>(d.labels.rows()));
  std::iota(all.begin(), all.end(), 0);
  out.labels = summarize_labels(d, all);
  if (!d.splits.empty() || !split.empty()) {
    const Split& s = d.split(split);
    const Array<int64_t>* parts[] = {&s.train, &s.valid, &s.test};
    for (int p = 0; p < 3; ++p) {
      out.parts[p] = summarize_labels(d, label_rows(d, *parts[p]));
      out.parts[p].items = parts[p]->size();
    }
  }
  out.bytes = d.num_bytes();
  return out;
}

}  // namespace egc::data
