#include "egc/data/build/build_csv.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "egc/core/error.h"
#include "egc/data/build/csv_edges.h"
#include "egc/data/build/csv_nodes.h"
#include "egc/data/build/csv_notices.h"
#include "egc/data/build/csv_split.h"
#include "egc/data/formats/csv_table.h"
#include "egc/data/formats/text_table.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

// Columns that may be features: everything that is not id, label, graph, split or ignored.
std::vector<std::string> feature_names(const CsvTable& nodes, const CsvOptions& options,
                                       const std::string& id, const std::string& split) {
  std::vector<std::string> out;
  for (const std::string& name : nodes.names)
    if (name != id && name != options.label && name != options.graph_id && name != split &&
        std::find(options.ignore.begin(), options.ignore.end(), name) == options.ignore.end())
      out.push_back(name);
  return out;
}

// Only columns that are there may be ignored or given a kind; a name means both tables' columns.
void check_given_columns(const CsvOptions& options, const CsvTable& nodes, const EdgeTable& edges,
                         std::vector<std::string> names) {
  for (const std::string& name : options.ignore)
    check(nodes.has(name) || edges.table.has(name),
          "{}: no column \"{}\" (--ignore), nor in {}; their columns: {}, {}", nodes.path, name,
          edges.table.path, fmt::join(nodes.names, ", "), fmt::join(edges.table.names, ", "));
  for (const std::string& name : edge_feature_names(edges, options))
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const auto& [name, kind] : options.columns)
    check(std::find(names.begin(), names.end(), name) != names.end(),
          "--column {}: no such feature column; known: {}", name, fmt::join(names, ", "));
}

void add_features(const CsvTable& nodes, const CsvOptions& options,
                  const std::vector<std::string>& names, const NodeOrder& order, CsvDataset& out) {
  DatasetInfo& info = out.dataset.info;
  TextFeatures text = options.text;
  if (options.like != nullptr) {
    info.columns = options.like->columns;
    text = options.like->node_features == FeatureKind::kCategorical ? TextFeatures::kEmbed
                                                                    : TextFeatures::kOneHot;
  } else {
    out.plan = plan_columns(nodes, names, options.columns, text);
    note_columns(nodes, out.plan, "column", out.notices);
    info.columns = learn_columns(nodes, out.plan, text);
  }
  MadeFeatures made = make_features(nodes, info.columns, text, order.row);
  out.dataset.node_features = std::move(made.features);
  info.node_features = out.dataset.node_features.kind();
  info.categories = std::move(made.categories);
  out.gaps = std::move(made.gaps);
  if (options.like != nullptr) note_gaps(nodes, info.columns, out.gaps, "column", out.notices);
}

// Labels in the order of graphs or nodes.
struct LabelTexts {
  std::vector<std::string> values;
  std::vector<std::string> where;
  bool of_graphs = false;
};

LabelTexts graph_labels(const CsvOptions& options, const NodeOrder& order) {
  const CsvTable table = read_csv_table(options.graphs, {options.graph_id, options.label});
  std::unordered_map<std::string, int64_t> row;
  for (int64_t r = 0; r < table.rows(); ++r)
    check_data(row.try_emplace(table.at(options.graph_id)[r], r).second,
               "{}: duplicate graph \"{}\"", table.where(r), table.at(options.graph_id)[r]);
  LabelTexts out;
  out.of_graphs = true;
  for (const std::string& graph : order.graphs) {
    const auto it = row.find(graph);
    check_data(it != row.end(), "{}: no row for the graph \"{}\"", table.path, graph);
    out.values.push_back(table.at(options.label)[it->second]);
    out.where.push_back(table.where(it->second));
  }
  return out;
}

LabelTexts node_labels(const CsvTable& nodes, const CsvOptions& options, const NodeOrder& order) {
  LabelTexts out;
  const auto& column = nodes.at(options.label);
  for (const int64_t row : order.row) {
    out.values.push_back(column[row]);
    out.where.push_back(nodes.where(row));
  }
  // With graphs, a label that is the same for all nodes of each is the graph's.
  bool constant = !options.graph_id.empty();
  for (size_t node = 1; node < order.row.size() && constant; ++node)
    constant = order.graph_of[node] != order.graph_of[node - 1] ||
               out.values[node] == out.values[node - 1];
  out.of_graphs = options.task ? is_graph_task(*options.task) : constant;
  if (!out.of_graphs) return out;
  check_data(constant, "{}: the label \"{}\" differs within a graph, so it cannot be a graph label",
             nodes.path, options.label);
  LabelTexts of_graphs;
  of_graphs.of_graphs = true;
  for (size_t g = 0; g < order.graphs.size(); ++g) {
    of_graphs.values.push_back(out.values[order.first_node[g]]);
    of_graphs.where.push_back(out.where[order.first_node[g]]);
  }
  return of_graphs;
}

Task guess_task(const LabelTexts& labels, const CsvOptions& options) {
  const auto numbers = as_numbers(labels.values);
  const bool all_integers = !numbers || std::all_of(numbers->begin(), numbers->end(), [](double v) {
    return std::isnan(v) || v == std::floor(v);
  });
  if (labels.of_graphs) return all_integers ? Task::kGraphClassification : Task::kGraphRegression;
  check_data(all_integers,
             "column \"{}\": node labels must be classes, but it has fractional numbers; "
             "regression is for graph labels only (--graph-id)",
             options.label);
  return Task::kNodeClassification;
}

// One spelling for each number: 1, 1.0 and 01 are the same class.
std::vector<std::string> class_texts(const std::vector<std::string>& values) {
  const auto numbers = as_numbers(values);
  constexpr double kExact = 9007199254740992;  // beyond, different integers are one double
  if (!numbers ||
      std::any_of(numbers->begin(), numbers->end(), [](double v) { return std::abs(v) >= kExact; }))
    return values;
  std::vector<std::string> out;
  for (const double v : *numbers) out.push_back(std::isnan(v) ? "" : fmt::format("{}", v));
  return out;
}

// Whole numbers keep their order: 2 comes before 10.
void sort_classes(std::vector<std::string>& classes) {
  if (!as_numbers(classes)) return;
  std::sort(classes.begin(), classes.end(), [](const std::string& a, const std::string& b) {
    double x = 0;
    double y = 0;
    parse_field(a, x);
    parse_field(b, y);
    return x < y;
  });
}

void add_labels(const LabelTexts& labels, const CsvOptions& options, CsvDataset& out) {
  DatasetInfo& info = out.dataset.info;
  info.task = options.task ? *options.task : guess_task(labels, options);
  check(info.task != Task::kGraphSequence && info.task != Task::kNodeClassificationHetero,
        "datasets built from tables do not support the task {}", tasks().name_of(info.task));
  info.metric = usual_metric(info.task);
  for (const std::string& v : labels.values) out.missing_labels += is_missing(v) ? 1 : 0;
  if (info.task == Task::kGraphRegression || info.task == Task::kGraphBinary) {
    std::vector<float> values;
    for (size_t k = 0; k < labels.values.size(); ++k) {
      double v = 0;
      check_data(parse_field(labels.values[k], v) &&
                     (info.task == Task::kGraphRegression || std::isnan(v) || v == 0 || v == 1),
                 "{}: column \"{}\": expected {}, got \"{}\"", labels.where[k], options.label,
                 info.task == Task::kGraphRegression ? "a number" : "0 or 1",
                 labels.values[k].substr(0, 40));
      values.push_back(static_cast<float>(v));
    }
    out.dataset.labels.values = {std::move(values), 1};
    return;
  }
  const std::vector<std::string> texts = class_texts(labels.values);
  out.classes = distinct(texts);
  sort_classes(out.classes);
  std::map<std::string, int32_t> index;
  for (const std::string& name : out.classes)
    index.emplace(name, static_cast<int32_t>(index.size()));
  std::vector<int32_t> classes;
  for (const std::string& v : texts) classes.push_back(is_missing(v) ? -1 : index.at(v));
  info.num_classes = static_cast<int64_t>(out.classes.size());
  info.class_names = out.classes;
  check_data(info.num_classes >= 2, "label column \"{}\": expected at least two classes, found {}",
             options.label, info.num_classes);
  const int64_t labelled = std::ssize(classes) - out.missing_labels;
  if (!options.task && info.num_classes > 10 && info.num_classes * 3 > labelled)
    out.notices.push_back(fmt::format(
        "column \"{}\": {} classes for {} labelled {}, of which a network can learn little{}",
        options.label, info.num_classes, labelled, labels.of_graphs ? "graphs" : "nodes",
        labels.of_graphs && as_numbers(out.classes) ? "; --task graph-regression predicts numbers"
                                                    : ""));
  out.dataset.labels.classes = std::move(classes);
}

// What a network was trained on tells the task; there is nothing to compare with.
void add_no_labels(const DatasetInfo& like, Dataset& d) {
  const DatasetInfo made = d.info;
  d.info = like;
  d.info.name = made.name;
  d.info.node_features = made.node_features;
  d.info.edge_features = made.edge_features;
  d.info.edge_categories = made.edge_categories;
  const auto rows = static_cast<size_t>(is_graph_task(like.task) ? d.num_graphs() : d.num_nodes());
  if (like.num_classes > 0)
    d.labels.classes = std::vector<int32_t>(rows, -1);
  else
    d.labels.values = {std::vector<float>(rows * static_cast<size_t>(like.num_targets),
                                          std::numeric_limits<float>::quiet_NaN()),
                       like.num_targets};
}

// Columns that the person has said are something else.
std::vector<std::string> not_a_split(const CsvOptions& options) {
  std::vector<std::string> out = options.ignore;
  out.push_back(options.label);
  for (const auto& [name, kind] : options.columns) out.push_back(name);
  return out;
}

// Of items with several rows, whose cells must be the same.
std::vector<int64_t> first_rows(const CsvTable& nodes, const std::string& column,
                                const NodeOrder& order) {
  std::vector<int64_t> out;
  for (size_t g = 0; g < order.graphs.size(); ++g) {
    const int64_t first = order.row[order.first_node[g]];
    for (int64_t node = order.first_node[g]; node < order.first_node[g + 1]; ++node)
      check_data(nodes.at(column)[order.row[node]] == nodes.at(column)[first],
                 "{}: column \"{}\" differs within the graph \"{}\"", nodes.where(order.row[node]),
                 column, order.graphs[g]);
    out.push_back(first);
  }
  return out;
}

// Only what has a label can be learned from or scored.
Split labelled_split(const Dataset& d, const Split& all) {
  if (!d.splits_nodes() && !is_graph_task(d.info.task)) return all;
  const auto labelled = [&](const Array<int64_t>& ids) {
    std::vector<int64_t> out;
    for (const int64_t id : ids)
      if (d.labels.classes.empty() ? !std::isnan(d.labels.values.at(id, 0))
                                   : d.labels.classes[id] >= 0)
        out.push_back(id);
    return out;
  };
  return {all.name, labelled(all.train), labelled(all.valid), labelled(all.test)};
}

// Where the items' split comes from: a column of the graphs' or the nodes' table, or the seed.
Split choose_split(const CsvTable& nodes, const std::string& split_of_nodes, const NodeOrder& order,
                   const CsvOptions& options, CsvDataset& out) {
  const Dataset& d = out.dataset;
  const bool of_nodes = d.splits_nodes();
  if (!options.graphs.empty() && !of_nodes) {
    const CsvTable graphs = read_csv_table(options.graphs, {options.graph_id});
    if (const std::string column =
            find_split_column(graphs, options.split, not_a_split(options), out.notices);
        !column.empty()) {
      std::unordered_map<std::string, int64_t> row;
      for (int64_t r = 0; r < graphs.rows(); ++r) row.emplace(graphs.at(options.graph_id)[r], r);
      std::vector<int64_t> rows;
      for (const std::string& graph : order.graphs) rows.push_back(row.at(graph));
      out.split_column = column;
      return split_of_column(graphs, column, rows);
    }
  }
  check(options.split.empty() || !split_of_nodes.empty(),
        "{}: no column \"{}\" (--split-column); its columns: {}", nodes.path, options.split,
        fmt::join(nodes.names, ", "));
  if (split_of_nodes.empty()) return random_split(d.num_items(), options.fractions, options.seed);
  out.split_column = split_of_nodes;
  return split_of_column(nodes, split_of_nodes,
                         of_nodes ? order.row : first_rows(nodes, split_of_nodes, order));
}

// What is no feature goes along, in the order of the dataset's items.
void add_extra_columns(const CsvTable& nodes, const NodeOrder& order, const std::string& id,
                       CsvDataset& out) {
  const auto& features = out.dataset.info.columns;
  for (const std::string& name : nodes.names) {
    if (name == id || std::any_of(features.begin(), features.end(),
                                  [&](const FeatureColumn& c) { return c.name == name; }))
      continue;
    ExtraColumn& extra = out.extra.emplace_back();
    extra.name = name;
    for (const int64_t row : order.row) extra.values.push_back(nodes.at(name)[row]);
  }
}

}  // namespace

CsvDataset build_csv(const CsvOptions& options) {
  check(options.graphs.empty() || !options.graph_id.empty(), "--graphs needs --graph-id");
  std::vector<std::string> needed = {options.id, options.graph_id};
  if (options.graphs.empty()) needed.push_back(options.label);
  const CsvTable nodes = read_csv_table(options.nodes, needed);
  const std::string id = !options.id.empty() ? options.id : nodes.has("id") ? "id" : nodes.names[0];
  check(id != options.label, "{}: column \"{}\" cannot be both the id and the label", nodes.path,
        id);
  const NodeOrder order = order_nodes(nodes, options.graph_id);

  CsvDataset out;
  Dataset& d = out.dataset;
  d.info.name = options.name;
  const EdgeTable edges = add_edges(nodes, options, id, order, d);
  const std::string split =
      options.like == nullptr
          ? find_split_column(nodes, options.split, not_a_split(options), out.notices)
          : "";
  const auto names = feature_names(nodes, options, id, split);
  check_given_columns(options, nodes, edges, names);
  add_features(nodes, options, names, order, out);
  add_edge_features(edges, options, out);
  if (options.like != nullptr) {
    add_no_labels(*options.like, d);
  } else {
    add_labels(
        options.graphs.empty() ? node_labels(nodes, options, order) : graph_labels(options, order),
        options, out);
    d.info.undirected = options.undirected;
    d.splits = {labelled_split(d, choose_split(nodes, split, order, options, out))};
  }
  if (!is_graph_task(d.info.task)) add_extra_columns(nodes, order, id, out);
  out.id_column = id;
  out.nodes.reserve(order.row.size());
  for (const int64_t row : order.row) out.nodes.push_back(nodes.at(id)[row]);
  out.graphs = order.graphs;
  check_dataset(d, nodes.path);
  return out;
}

}  // namespace egc::data
