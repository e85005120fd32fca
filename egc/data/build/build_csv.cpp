#include "egc/data/build/build_csv.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/data/build/csv_split.h"
#include "egc/data/formats/csv_table.h"
#include "egc/data/formats/text_table.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

// Nodes in the order of their graphs, graphs in the order of their names' first appearance.
struct NodeOrder {
  std::vector<std::string> graphs;
  std::vector<int64_t> first_node = {0};
  std::vector<int64_t> row;       // of each node, in the node table
  std::vector<int32_t> graph_of;  // of each node
};

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

// Ends of edges are node ids, which are unique; with the edges' own graph ids, within a graph.
class NodeNames {
 public:
  NodeNames(const CsvTable& nodes, const std::string& id, const NodeOrder& order, bool per_graph)
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

  int64_t find(const std::string& graph, const std::string& name) const {
    const auto it = index_.find(key(graph, name));
    return it == index_.end() ? -1 : it->second;
  }

 private:
  std::string key(const std::string& graph, const std::string& name) const {
    return per_graph_ ? graph + '\n' + name : name;
  }

  bool per_graph_;
  std::unordered_map<std::string, int64_t> index_;
};

// "source" and "target" where both are there, else the first two that do not name the graph.
std::pair<std::string, std::string> edge_columns(const CsvTable& edges, const std::string& graph) {
  std::vector<std::string> names = edges.names;
  std::erase(names, graph);
  check_data(names.size() >= 2, "{}: expected two columns, source and target, found {}", edges.path,
             names.size());
  const auto is = [](const char* name) { return [name](const auto& n) { return n == name; }; };
  const bool named = std::any_of(names.begin(), names.end(), is("source")) &&
                     std::any_of(names.begin(), names.end(), is("target"));
  if (named) {
    std::erase(names, "source");
    std::erase(names, "target");
    names.insert(names.begin(), {"source", "target"});
  }
  if (names.size() > 2)
    log_warning("{}: edges go from column \"{}\" to \"{}\"; ignoring the other columns: {}",
                edges.path, names[0], names[1], fmt::join(names.begin() + 2, names.end(), ", "));
  return {names[0], names[1]};
}

void add_edges(const CsvTable& edges, const CsvTable& nodes, const CsvOptions& options,
               const std::string& id, const NodeOrder& order, Dataset& d) {
  const bool per_graph = !options.graph_id.empty() && edges.has(options.graph_id);
  const auto [source, target] = edge_columns(edges, per_graph ? options.graph_id : "");
  const NodeNames names(nodes, id, order, per_graph);
  check_data(per_graph || names.find("", source) < 0 || names.find("", target) < 0,
             "{}:1: expected a header row, found the edge from \"{}\" to \"{}\"", edges.path,
             source, target);
  std::vector<std::vector<int32_t>> of_graph(order.graphs.size());
  for (int64_t r = 0; r < edges.rows(); ++r) {
    const std::string graph = per_graph ? edges.at(options.graph_id)[r] : "";
    int64_t ends[2];
    for (int k = 0; k < 2; ++k) {
      const std::string& name = edges.at(k == 0 ? source : target)[r];
      ends[k] = names.find(graph, name);
      if (ends[k] < 0)
        fail(ErrorKind::kData, "{}: {} \"{}\" is not a node id in {}", edges.where(r),
             k == 0 ? source : target, name, nodes.path);
    }
    const int32_t g = order.graph_of[ends[0]];
    if (order.graph_of[ends[1]] != g)
      fail(ErrorKind::kData, "{}: the edge joins two different graphs, \"{}\" and \"{}\"",
           edges.where(r), order.graphs[g], order.graphs[order.graph_of[ends[1]]]);
    for (const int64_t end : ends)
      of_graph[g].push_back(static_cast<int32_t>(end - order.first_node[g]));
  }
  std::vector<int64_t> first = {0};
  std::vector<int32_t> all;
  for (auto& list : of_graph) {
    all.insert(all.end(), list.begin(), list.end());
    first.push_back(static_cast<int64_t>(all.size()) / 2);
  }
  d.first_node = order.first_node;
  d.first_edge = std::move(first);
  d.edges = {std::move(all), 2};
}

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

// What the person should know of the columns.
void note_columns(const CsvTable& table, const std::vector<ColumnPlan>& plan, CsvDataset& out) {
  for (const ColumnPlan& column : plan) {
    if (column.kind == ColumnKind::kIgnore && column.reason != "asked for")
      out.notices.push_back(fmt::format(
          "ignoring column \"{0}\": {1}{2}", column.name, column.reason,
          column.missing == table.rows()
              ? ""
              : fmt::format("; to use it, give --column {0}=number or {0}=category", column.name)));
    if (column.kind == ColumnKind::kNumber && column.is_narrow)
      out.notices.push_back(
          fmt::format("column \"{}\": its values differ by less than 0.01% of their size, which "
                      "32-bit features barely resolve; subtract a constant from them",
                      column.name));
    if (column.kind == ColumnKind::kNumber && !column.odd_rows.empty())
      out.notices.push_back(fmt::format(
          "column \"{}\": {} of {} values are not numbers and are treated as missing: {}",
          column.name, column.odd_rows.size(), table.rows(),
          spell_cells(table, column.name, column.odd_rows)));
  }
}

// Only the named ones may be given a kind.
void check_given_columns(const CsvOptions& options, const std::vector<std::string>& names) {
  for (const auto& [name, kind] : options.columns)
    check(std::find(names.begin(), names.end(), name) != names.end(),
          "--column {}: no such feature column; known: {}", name, fmt::join(names, ", "));
}

void add_features(const CsvTable& nodes, const CsvOptions& options, const std::string& id,
                  const std::string& split, const NodeOrder& order, CsvDataset& out) {
  DatasetInfo& info = out.dataset.info;
  TextFeatures text = options.text;
  if (options.like != nullptr) {
    info.columns = options.like->columns;
    text = options.like->node_features == FeatureKind::kCategorical ? TextFeatures::kEmbed
                                                                    : TextFeatures::kOneHot;
  } else {
    const auto names = feature_names(nodes, options, id, split);
    check_given_columns(options, names);
    out.plan = plan_columns(nodes, names, options.columns, text);
    note_columns(nodes, out.plan, out);
    info.columns = learn_columns(nodes, out.plan, text);
  }
  MadeFeatures made = make_features(nodes, info.columns, text, order.row);
  out.dataset.node_features = std::move(made.features);
  info.node_features = out.dataset.node_features.kind();
  info.categories = std::move(made.categories);
  out.gaps = std::move(made.gaps);
  if (options.like == nullptr) return;
  for (size_t k = 0; k < out.gaps.size(); ++k)
    if (const auto& odd = out.gaps[k].odd_rows; !odd.empty())
      out.notices.push_back(fmt::format(
          "column \"{}\": {} of {} values are not numbers and are treated as missing: {}",
          info.columns[k].name, odd.size(), nodes.rows(),
          spell_cells(nodes, info.columns[k].name, odd)));
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
  const FeatureKind features = d.info.node_features;
  const std::string name = d.info.name;
  d.info = like;
  d.info.name = name;
  d.info.node_features = features;
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
  needed.insert(needed.end(), options.ignore.begin(), options.ignore.end());
  const CsvTable nodes = read_csv_table(options.nodes, needed);
  const std::string id = !options.id.empty() ? options.id : nodes.has("id") ? "id" : nodes.names[0];
  check(id != options.label, "{}: column \"{}\" cannot be both the id and the label", nodes.path,
        id);
  const NodeOrder order = order_nodes(nodes, options.graph_id);

  CsvDataset out;
  Dataset& d = out.dataset;
  d.info.name = options.name;
  add_edges(read_csv_table(options.edges, {}, /*may_be_empty=*/true), nodes, options, id, order, d);
  const std::string split =
      options.like == nullptr
          ? find_split_column(nodes, options.split, not_a_split(options), out.notices)
          : "";
  add_features(nodes, options, id, split, order, out);
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
