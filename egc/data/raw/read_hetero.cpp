// Graphs with several types: ogbn-mag's folders, or one type of nodes with a relation id per edge.
#include <algorithm>
#include <charconv>

#include "egc/core/error.h"
#include "egc/data/formats/number_table.h"
#include "egc/data/formats/text_blocks.h"
#include "egc/data/raw/raw_reader.h"
#include "egc/data/raw/table_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoEdgeFeatures =
    "networks for several node types or relations take no features or weights of edges";

std::vector<std::string> split_at(std::string_view line, std::string_view separator) {
  std::vector<std::string> out;
  for (;;) {
    const size_t end = line.find(separator);
    out.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return out;
    line.remove_prefix(end + separator.size());
  }
}

// Names that differ and that model files can hold.
void check_names(const HeteroSchema& schema, const fs::path& where) {
  try {
    check_schema(schema);
  } catch (const Error& e) {
    fail(ErrorKind::kData, "{}: {}", where.string(), e.what());
  }
}

// num-node-dict: a line of type names, a line of their numbers of nodes. Types are sorted by name,
// as OGB has them.
void read_node_types(const fs::path& path, HeteroParts& h) {
  TextLinesReader lines(path);
  std::string_view line;
  check_data(lines.next(line), "{}: expected a line of node types, found none", path.string());
  const auto names = split_at(line, ",");
  check_data(lines.next(line), "{}: expected a second line, the numbers of nodes", path.string());
  const auto counts = split_at(line, ",");
  check_data(names.size() == counts.size(), "{}:2: expected {} numbers, one a type, found {}",
             path.string(), names.size(), counts.size());
  std::vector<std::pair<std::string, int64_t>> types;
  for (size_t k = 0; k < names.size(); ++k) {
    int64_t count = 0;
    const char* end = counts[k].data() + counts[k].size();
    const auto [next, error] = std::from_chars(counts[k].data(), end, count);
    check_data(error == std::errc() && next == end && count >= 0 && count < INT32_MAX,
               "{}:2: column {}: expected a number of nodes, got \"{}\"", path.string(), k + 1,
               counts[k]);
    types.emplace_back(names[k], count);
  }
  std::sort(types.begin(), types.end());
  for (const auto& [name, count] : types) {
    h.schema.node_types.push_back(name);
    h.num_nodes.push_back(count);
  }
  check_names(h.schema, path);
}

// head, relation, tail of triplet-type-list, or of the folders' names; sorted.
std::vector<std::vector<std::string>> read_triplets(const fs::path& raw) {
  std::vector<std::vector<std::string>> out;
  if (const auto path = find_table(raw, "triplet-type-list")) {
    TextLinesReader lines(*path);
    std::string_view line;
    while (lines.next(line)) {
      if (line.empty()) continue;
      out.push_back(split_at(line, ","));
      check_data(out.back().size() == 3, "{}:{}: expected head,relation,tail, found {} columns",
                 path->string(), lines.line_number(), out.back().size());
    }
  } else {
    for (const auto& entry : fs::directory_iterator(raw / "relations")) {
      if (!entry.is_directory()) continue;
      out.push_back(split_at(entry.path().filename().string(), "___"));
      check_data(out.back().size() == 3, "{}: a relation's folder is named head___relation___tail",
                 entry.path().string());
    }
  }
  std::sort(out.begin(), out.end());
  if (const auto twice = std::adjacent_find(out.begin(), out.end()); twice != out.end())
    fail(ErrorKind::kData, "{}: duplicate relation {}", (raw / "triplet-type-list.csv.gz").string(),
         fmt::join(*twice, ","));
  check_data(!out.empty(), "{}: expected at least one relation", (raw / "relations").string());
  return out;
}

int64_t type_index(const HeteroSchema& schema, const std::string& name, const fs::path& where) {
  for (size_t t = 0; t < schema.node_types.size(); ++t)
    if (schema.node_types[t] == name) return static_cast<int64_t>(t);
  fail(ErrorKind::kData, "{}: unknown node type \"{}\"; known: {}", where.string(), name,
       fmt::join(schema.node_types, ", "));
}

void check_ids(const Matrix<int32_t>& edges, int64_t sources, int64_t targets,
               const fs::path& path) {
  for (int64_t e = 0; e < edges.rows(); ++e)
    if (edges.at(e, 0) < 0 || edges.at(e, 0) >= sources || edges.at(e, 1) < 0 ||
        edges.at(e, 1) >= targets)
      fail(ErrorKind::kData, "{}:{}: expected ids in [0, {}) and [0, {}), got {},{}", path.string(),
           e + 1, sources, targets, edges.at(e, 0), edges.at(e, 1));
}

void read_relations(const fs::path& raw, HeteroParts& h) {
  for (const auto& triplet : read_triplets(raw)) {
    const fs::path dir = raw / "relations" / (triplet[0] + "___" + triplet[1] + "___" + triplet[2]);
    const fs::path path = need_table(dir, "edge");
    const int64_t source = type_index(h.schema, triplet[0], path);
    const int64_t target = type_index(h.schema, triplet[2], path);
    TableRules rules{.columns = 2, .rows_are = "edges of num-edge-list"};
    if (const auto counts = find_table(dir, "num-edge-list"))
      rules.rows = read_bounds(*counts, /*of_nodes=*/false).back();
    auto edges = read_number_table<int32_t>(path, rules);
    check_ids(edges, h.num_nodes[source], h.num_nodes[target], path);
    ignore_edge_files(dir, kNoEdgeFeatures);
    // Two relations may share their middle name; a schema's names differ.
    std::string name = triplet[1];
    for (const auto& other : h.schema.relations)
      if (other.name == name) name = triplet[0] + "_" + triplet[1] + "_" + triplet[2];
    h.schema.relations.push_back({name, source, target});
    h.edges.push_back(std::move(edges));
  }
}

// The one folder of raw/node-label.
std::string labelled_type(const fs::path& raw) {
  std::vector<std::string> types;
  const fs::path dir = raw / "node-label";
  if (fs::is_directory(dir))
    for (const auto& entry : fs::directory_iterator(dir))
      if (entry.is_directory()) types.push_back(entry.path().filename().string());
  check_data(types.size() == 1, "{}: expected one folder, the node type with labels, found {}",
             dir.string(), types.size());
  return types[0];
}

void read_typed(const RawSource& source, Dataset& dataset) {
  HeteroParts& h = dataset.hetero;
  read_node_types(need_table(source.raw, "num-node-dict"), h);
  read_relations(source.raw, h);
  for (size_t t = 0; t < h.num_nodes.size(); ++t) {
    const fs::path dir = source.raw / "node-feat" / h.schema.node_types[t];
    std::vector<int64_t> none;
    const bool has_features = find_file(dir, "node-feat", {".csv.gz", ".csv", ".npy"}).has_value();
    h.features.push_back(has_features ? read_features(dir, "node-feat", h.num_nodes[t], "nodes",
                                                      FeatureKind::kFloat, none)
                                      : Features{});
    if (has_features) dataset.info.node_features = FeatureKind::kFloat;
  }
  const std::string type = labelled_type(source.raw);
  h.target_type = type_index(h.schema, type, source.raw / "node-label");
  read_labels(source, source.raw / "node-label" / type, h.num_nodes[h.target_type], dataset);
}

void read_relation_ids(const RawSource& source, Dataset& dataset) {
  HeteroParts& h = dataset.hetero;
  const auto nodes = read_bounds(need_table(source.raw, "num-node-list"), /*of_nodes=*/true);
  check_data(nodes.size() == 2, "{}: expected one graph, found {}",
             need_table(source.raw, "num-node-list").string(), nodes.size() - 1);
  h.schema.node_types = {"node"};
  h.num_nodes = {nodes.back()};
  h.features.resize(1);
  TableRules rules{.columns = 2, .rows_are = "edges of num-edge-list"};
  if (const auto counts = find_table(source.raw, "num-edge-list"))
    rules.rows = read_bounds(*counts, /*of_nodes=*/false).back();
  const fs::path edge_path = need_table(source.raw, "edge");
  const auto edges = read_number_table<int32_t>(edge_path, rules);
  check_ids(edges, nodes.back(), nodes.back(), edge_path);
  ignore_edge_files(source.raw, kNoEdgeFeatures);
  const fs::path relation_path = need_table(source.raw, "edge_reltype");
  const auto relation =
      read_number_column<int32_t>(relation_path, {.rows = edges.rows(), .rows_are = "edges"});
  int32_t largest = -1;
  for (int64_t e = 0; e < relation.size(); ++e) {
    constexpr int32_t kMax = 1 << 12;  // each becomes a graph of its own
    if (relation[e] < 0 || relation[e] >= kMax)
      fail(ErrorKind::kData, "{}:{}: a relation id must be in [0, {}), got {}",
           relation_path.string(), e + 1, kMax, relation[e]);
    largest = std::max(largest, relation[e]);
  }
  std::vector<std::vector<int32_t>> parts(static_cast<size_t>(largest) + 1);
  for (int64_t e = 0; e < relation.size(); ++e)
    parts[relation[e]].insert(parts[relation[e]].end(), {edges.at(e, 0), edges.at(e, 1)});
  for (size_t r = 0; r < parts.size(); ++r) {
    h.schema.relations.push_back({fmt::format("r{}", r), 0, 0});
    h.edges.push_back({Array<int32_t>(std::move(parts[r])), 2});
  }
  const bool without =
      source.given.has("node_features") && source.given.info.node_features == FeatureKind::kNone;
  if (!without && find_file(source.raw, "node-feat", {".csv.gz", ".csv", ".npy"})) {
    std::vector<int64_t> none;
    h.features[0] =
        read_features(source.raw, "node-feat", nodes.back(), "nodes", FeatureKind::kFloat, none);
    dataset.info.node_features = FeatureKind::kFloat;
  }
  read_labels(source, source.raw, nodes.back(), dataset);
}

}  // namespace

bool is_hetero(const RawSource& source) {
  if (fs::is_directory(source.raw / "relations")) return true;
  return source.given.has("task") ? source.given.info.task == Task::kNodeClassificationHetero
                                  : find_table(source.raw, "edge_reltype").has_value();
}

void read_hetero(const RawSource& source, Dataset& dataset) {
  check_data(!source.given.has("task") || source.given.info.task == Task::kNodeClassificationHetero,
             "{}: the dataset has several node types, so the task must be "
             "node-classification-hetero, got {}",
             (source.dir / "dataset.json").string(), tasks().name_of(source.given.info.task));
  check_data(source.given.info.edge_features == FeatureKind::kNone &&
                 source.given.info.edge_weight.empty(),
             "{}: {}", (source.dir / "dataset.json").string(), kNoEdgeFeatures);
  dataset.info.task = Task::kNodeClassificationHetero;
  dataset.info.node_features = FeatureKind::kNone;
  const bool typed = fs::is_directory(source.raw / "relations");
  typed ? read_typed(source, dataset) : read_relation_ids(source, dataset);
  check_names(dataset.hetero.schema, source.raw);
}

}  // namespace egc::data
