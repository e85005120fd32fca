#include "egc/data/build/csv_edges.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "egc/core/error.h"
#include "egc/data/build/csv_notices.h"
#include "egc/data/formats/text_table.h"
#include "egc/data/weight_conflict.h"

namespace egc::data {
namespace {

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "source" and "target" where both are there, else the first two that do not name the graph.
void find_ends(EdgeTable& edges) {
  std::vector<std::string> names = edges.table.names;
  std::erase(names, edges.graph);
  check_data(names.size() >= 2, "{}: expected two columns, source and target, found {}",
             edges.table.path, names.size());
  const bool named = is_one_of(names, "source") && is_one_of(names, "target");
  edges.source = named ? "source" : names[0];
  edges.target = named ? "target" : names[1];
  std::erase(names, edges.source);
  std::erase(names, edges.target);
  edges.rest = std::move(names);
}

// The column that is asked for, or that a network was trained on.
void find_weight(EdgeTable& edges, const CsvOptions& options) {
  const bool trained = options.like != nullptr;
  edges.weight = trained ? options.like->edge_weight : options.edge_weight;
  if (edges.weight.empty()) return;
  if (!is_one_of(edges.rest, edges.weight))
    fail(trained ? ErrorKind::kData : ErrorKind::kUsage,
         "{}: no column \"{}\" with the weights of edges{}; its further columns: {}",
         edges.table.path, edges.weight,
         trained ? ", which the model was trained with" : " (--edge-weight)",
         edges.rest.empty() ? "none" : fmt::format("{}", fmt::join(edges.rest, ", ")));
  std::erase(edges.rest, edges.weight);
}

// There is no mean of weights: one that is missing is an error.
void add_weights(const EdgeTable& edges, Dataset& d) {
  d.info.edge_weight = edges.weight;
  if (edges.weight.empty()) return;
  const auto& texts = edges.table.at(edges.weight);
  std::vector<float> out;
  out.reserve(edges.row.size());
  for (const int64_t r : edges.row) {
    double weight = 0;
    const bool number = parse_field(texts[r], weight);
    check_data(number && std::isfinite(static_cast<float>(weight)),
               "{}: column \"{}\": expected a weight, a finite number, got \"{}\"",
               edges.table.where(r), edges.weight, texts[r].substr(0, 40));
    out.push_back(static_cast<float>(weight));
  }
  d.edge_weights = std::move(out);
}

// Networks would find it too, but not name the lines.
void check_undirected_weights(const EdgeTable& edges, const Dataset& d, bool undirected) {
  const auto conflict = find_weight_conflict(d, undirected);
  if (!conflict) return;
  const auto [first, second] = *conflict;
  fail(ErrorKind::kData,
       "{}: this edge has the weight {}, but in line {} its weight is {}; edges of undirected "
       "graphs have one weight",
       edges.table.where(edges.row[second]), d.edge_weights[second],
       edges.table.lines[edges.row[first]], d.edge_weights[first]);
}

// The nodes at both ends of the edge of a row.
std::array<int64_t, 2> ends_of(const EdgeTable& edges, int64_t r, const NodeNames& names,
                               const CsvTable& nodes) {
  const std::string graph = edges.graph.empty() ? "" : edges.table.at(edges.graph)[r];
  std::array<int64_t, 2> out = {};
  for (int k = 0; k < 2; ++k) {
    const std::string& column = k == 0 ? edges.source : edges.target;
    const std::string& name = edges.table.at(column)[r];
    out[k] = names.find(graph, name);
    if (out[k] < 0)
      fail(ErrorKind::kData, "{}: {} \"{}\" is not a node id in {}", edges.table.where(r), column,
           name, nodes.path);
  }
  return out;
}

// What names an edge or gives the answer away is left out, unless a kind is given for it.
void leave_out(std::vector<ColumnPlan>& plan, const CsvOptions& options) {
  for (ColumnPlan& column : plan) {
    if (options.columns.contains(column.name)) continue;
    if (column.name != "id" && column.name != options.label) continue;
    column.kind = ColumnKind::kIgnore;
    column.reason = column.name == "id" ? "it numbers the edges" : "it has the name of the label";
  }
}

// Texts alone are categories, for embeddings, of which there may be many.
TextFeatures plan_edge_columns(const EdgeTable& edges, const CsvOptions& options,
                               std::vector<ColumnPlan>& plan) {
  const auto names = edge_feature_names(edges, options);
  const auto planned = [&](const std::vector<std::string>& of, TextFeatures text) {
    auto out = plan_columns(edges.table, of, options.columns, text);
    leave_out(out, options);
    return out;
  };
  plan = planned(names, TextFeatures::kOneHot);
  const auto is_number = [](const ColumnPlan& c) { return c.kind == ColumnKind::kNumber; };
  if (std::any_of(plan.begin(), plan.end(), is_number)) return TextFeatures::kOneHot;
  for (ColumnPlan& column : plan)
    if (column.categories > 0) column = planned({column.name}, TextFeatures::kEmbed).at(0);
  return TextFeatures::kEmbed;
}

}  // namespace

EdgeTable add_edges(const CsvTable& nodes, const CsvOptions& options, const std::string& id,
                    const NodeOrder& order, Dataset& d) {
  EdgeTable out;
  out.table = read_csv_table(options.edges, {}, /*may_be_empty=*/true);
  const CsvTable& table = out.table;
  if (!options.graph_id.empty() && table.has(options.graph_id)) out.graph = options.graph_id;
  find_ends(out);
  find_weight(out, options);
  const bool per_graph = !out.graph.empty();
  const NodeNames names(nodes, id, order, per_graph);
  check_data(per_graph || names.find("", out.source) < 0 || names.find("", out.target) < 0,
             "{}:1: expected a header row, found the edge from \"{}\" to \"{}\"", table.path,
             out.source, out.target);
  std::vector<std::vector<int32_t>> of_graph(order.graphs.size());
  std::vector<std::vector<int64_t>> rows(order.graphs.size());
  for (int64_t r = 0; r < table.rows(); ++r) {
    const auto ends = ends_of(out, r, names, nodes);
    const int32_t g = order.graph_of[ends[0]];
    if (order.graph_of[ends[1]] != g)
      fail(ErrorKind::kData, "{}: the edge joins two different graphs, \"{}\" and \"{}\"",
           table.where(r), order.graphs[g], order.graphs[order.graph_of[ends[1]]]);
    for (const int64_t end : ends)
      of_graph[g].push_back(static_cast<int32_t>(end - order.first_node[g]));
    rows[g].push_back(r);
  }
  std::vector<int64_t> first = {0};
  std::vector<int32_t> all;
  for (size_t g = 0; g < of_graph.size(); ++g) {
    all.insert(all.end(), of_graph[g].begin(), of_graph[g].end());
    out.row.insert(out.row.end(), rows[g].begin(), rows[g].end());
    first.push_back(static_cast<int64_t>(all.size()) / 2);
  }
  d.first_node = order.first_node;
  d.first_edge = std::move(first);
  d.edges = {std::move(all), 2};
  add_weights(out, d);
  check_undirected_weights(out, d,
                           options.like != nullptr ? options.like->undirected : options.undirected);
  return out;
}

std::vector<std::string> edge_feature_names(const EdgeTable& edges, const CsvOptions& options) {
  std::vector<std::string> out;
  for (const std::string& name : edges.rest)
    if (!is_one_of(options.ignore, name)) out.push_back(name);
  return out;
}

void add_edge_features(const EdgeTable& edges, const CsvOptions& options, CsvDataset& out) {
  DatasetInfo& info = out.dataset.info;
  TextFeatures text = TextFeatures::kOneHot;
  if (options.like != nullptr) {
    info.edge_columns = options.like->edge_columns;
    if (options.like->edge_features == FeatureKind::kCategorical) text = TextFeatures::kEmbed;
    std::vector<std::string> unknown = edges.rest;
    for (const FeatureColumn& column : info.edge_columns) std::erase(unknown, column.name);
    if (!unknown.empty())
      out.notices.push_back(fmt::format("{}: ignoring columns that the model does not use: {}",
                                        edges.table.path, fmt::join(unknown, ", ")));
  } else {
    text = plan_edge_columns(edges, options, out.edge_plan);
    note_columns(edges.table, out.edge_plan, "edge column", out.notices);
    info.edge_columns = learn_columns(edges.table, out.edge_plan, text);
  }
  if (info.edge_columns.empty()) return;
  MadeFeatures made = make_features(edges.table, info.edge_columns, text, edges.row);
  out.dataset.edge_features = std::move(made.features);
  // Not those of the matrix: a table may have the columns and no rows.
  info.edge_features =
      text == TextFeatures::kEmbed ? FeatureKind::kCategorical : FeatureKind::kFloat;
  info.edge_categories = std::move(made.categories);
  out.edge_gaps = std::move(made.gaps);
  if (options.like != nullptr)
    note_gaps(edges.table, info.edge_columns, out.edge_gaps, "edge column", out.notices);
}

}  // namespace egc::data
