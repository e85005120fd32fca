#include "egc/data/raw/read_dataset.h"

#include <algorithm>
#include <limits>

#include "egc/core/error.h"
#include "egc/data/build/superpixels.h"
#include "egc/data/dataset_table.h"
#include "egc/data/formats/number_table.h"
#include "egc/data/formats/text_blocks.h"
#include "egc/data/raw/cache.h"
#include "egc/data/raw/raw_reader.h"
#include "egc/data/raw/table_files.h"
#include "egc/data/splits.h"
#include "egc/data/weight_conflict.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestInfo = 1 << 20;

// dataset.json, else what is known of a published dataset by the name of its folder.
GivenInfo find_info(const fs::path& dir) {
  const fs::path path = dir / "dataset.json";
  GivenInfo out;
  if (fs::exists(path))
    out = parse_info(read_text(path, kLongestInfo), path.string());
  else if (const KnownDataset* known = find_known(folder_name(dir)))
    out = parse_info(known->info_json, known->name);
  if (out.info.name.empty()) out.info.name = folder_name(dir);
  return out;
}

void check_is_dataset(const fs::path& dir) {
  check_data(fs::exists(dir), "{}: no such dataset directory", dir.string());
  check_data(fs::is_directory(dir), "{}: expected a dataset directory, found a file", dir.string());
  check_data(fs::is_directory(dir / "raw"),
             "{}: not a dataset: it has no directory raw/ (with edge.csv.gz, num-node-list.csv.gz "
             "and graph-label.csv.gz or node-label.csv.gz, or with relations/)",
             dir.string());
}

void check_edge_ids(const Dataset& d, const fs::path& path) {
  for (int64_t k = 0; k < d.num_graphs(); ++k) {
    const Sample s = d.sample(k);
    for (int64_t e = 0; e < s.num_edges(); ++e) {
      const int32_t a = s.edges[2 * e];
      const int32_t b = s.edges[2 * e + 1];
      if (a < 0 || a >= s.num_nodes || b < 0 || b >= s.num_nodes)
        fail(ErrorKind::kData, "{}:{}: expected node ids in [0, {}), those of graph {}, got {},{}",
             path.string(), s.first_edge + e + 1, s.num_nodes, k, a, b);
    }
  }
}

void read_edges(const RawSource& source, Dataset& d) {
  const fs::path path = need_table(source.raw, "edge");
  const auto counts = find_table(source.raw, "num-edge-list");
  TableRules rules{.columns = 2, .rows_are = "edges of num-edge-list"};
  if (counts) {
    d.first_edge = read_bounds(*counts, /*of_nodes=*/false);
    check_data(d.first_edge.size() == d.first_node.size(),
               "{}: expected {} lines, one for each of the graphs, found {}", counts->string(),
               d.num_graphs(), d.first_edge.size() - 1);
    rules.rows = d.first_edge.back();
  } else {
    check_data(d.num_graphs() == 1, "{}: not found, but needed for {} graphs",
               (source.raw / "num-edge-list.csv.gz").string(), d.num_graphs());
  }
  d.edges = read_number_table<int32_t>(path, rules);
  d.edges.columns = 2;  // also of no edge at all
  if (!counts) d.first_edge = std::vector<int64_t>{0, d.edges.rows()};
  check_edge_ids(d, path);
}

// A weight for each edge, where there is such a file.
void read_edge_weights(const RawSource& source, Dataset& d) {
  std::string& name = d.info.edge_weight;
  const auto path = find_file(source.raw, "edge-weight", {".npy", ".csv.gz", ".csv"});
  if (!path) {
    check_data(name.empty() || d.num_edges() == 0,
               "{}: not found, nor edge-weight.csv, nor edge-weight.npy; dataset.json says that "
               "edges have weights (edge_weight)",
               (source.raw / "edge-weight.csv.gz").string());
    return;
  }
  std::vector<int64_t> none;
  const Matrix<float> weights =
      read_features(source.raw, "edge-weight", d.num_edges(), "edges", FeatureKind::kFloat, none)
          .floats;
  check_data(weights.columns <= 1, "{}: expected 1 column, the weight of an edge, found {}",
             path->string(), weights.columns);
  check_data(d.node_is_attributed.empty(), "{}: edges of syntax trees have no weights",
             path->string());
  d.edge_weights = weights.values;
  if (name.empty()) name = "weight";
  if (const auto conflict = find_weight_conflict(d, d.info.undirected))
    fail(ErrorKind::kData,
         "{}:{}: this edge has the weight {}, but in line {} its weight is {}; edges of undirected "
         "graphs have one weight",
         path->string(), conflict->second + 1, d.edge_weights[conflict->second],
         conflict->first + 1, d.edge_weights[conflict->first]);
}

// Code-V2's three columns: type, attribute, and depth, which OGB keeps in a table of its own.
void read_ast_features(const RawSource& source, Dataset& d) {
  const int64_t nodes = d.num_nodes();
  const TableRules rules{.rows = nodes, .rows_are = "nodes"};
  const fs::path path = need_table(source.raw, "node-feat");
  const auto pairs =
      read_number_table<int32_t>(path, {.rows = nodes, .columns = 2, .rows_are = "nodes"});
  const fs::path depth_path = need_table(source.raw, "node_depth");
  const auto depth = read_number_column<int32_t>(depth_path, rules);
  const fs::path attributed_path = need_table(source.raw, "node_is_attributed");
  const auto attributed = read_number_column<int32_t>(attributed_path, rules);
  std::vector<int64_t>& categories = d.info.categories;
  const bool given = !categories.empty();
  check_data(!given || categories.size() == 3,
             "{}: expected 3 categories, of type, attribute and depth, got {}",
             (source.dir / "dataset.json").string(), categories.size());
  if (!given) categories = {1, 1, kAstDepths};
  std::vector<int32_t> values(static_cast<size_t>(3 * nodes));
  std::vector<uint8_t> bits(static_cast<size_t>(nodes));
  for (int64_t i = 0; i < nodes; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      const int32_t value = pairs.at(i, j);
      if (value < 0 || (given && value >= categories[j]))
        fail(ErrorKind::kData, "{}:{}: column {}: a category must be in [0, {}), got {}",
             path.string(), i + 1, j + 1, given ? std::to_string(categories[j]) : "2^31", value);
      if (!given) categories[j] = std::max<int64_t>(categories[j], int64_t{value} + 1);
      values[3 * i + j] = value;
    }
    if (depth[i] < 0)
      fail(ErrorKind::kData, "{}:{}: a depth must not be negative, got {}", depth_path.string(),
           i + 1, depth[i]);
    values[3 * i + 2] = static_cast<int32_t>(std::min<int64_t>(depth[i], categories[2] - 1));
    if (attributed[i] != 0 && attributed[i] != 1)
      fail(ErrorKind::kData, "{}:{}: expected 0 or 1, got {}", attributed_path.string(), i + 1,
           attributed[i]);
    bits[i] = static_cast<uint8_t>(attributed[i]);
  }
  d.node_features.categories = {Array<int32_t>(std::move(values)), 3};
  d.node_is_attributed = std::move(bits);
}

void read_homogeneous(const RawSource& source, Dataset& d) {
  d.first_node = read_bounds(need_table(source.raw, "num-node-list"), /*of_nodes=*/true);
  const auto superpixels = find_file(source.raw, "node-feat", {".u8.gz", ".u8"});
  const auto kind = source.given.has("node_features")
                        ? std::optional(source.given.info.node_features)
                        : std::nullopt;
  if (superpixels) {
    d.node_features.floats = read_superpixel_bytes(*superpixels, d.num_nodes());
    derive_superpixel_edges(d);
    ignore_edge_files(source.raw, "the edges of superpixels are derived, not read");
    d.info.edge_weight.clear();
  } else {
    read_edges(source, d);
    if (find_table(source.raw, "node_is_attributed"))
      read_ast_features(source, d);
    else
      d.node_features =
          read_features(source.raw, "node-feat", d.num_nodes(), "nodes", kind, d.info.categories);
    std::optional<FeatureKind> edge_kind;
    if (source.given.has("edge_features"))
      edge_kind = source.given.info.edge_features;
    else if (source.given.has("edge_categories") && find_table(source.raw, "edge-feat"))
      edge_kind = FeatureKind::kCategorical;
    d.edge_features = read_features(source.raw, "edge-feat", d.num_edges(), "edges", edge_kind,
                                    d.info.edge_categories);
    read_edge_weights(source, d);
  }
  d.info.node_features = d.node_features.kind();
  d.info.edge_features = d.edge_features.kind();
  const bool of_graphs = labels_are_of_graphs(source);
  read_labels(source, source.raw, of_graphs ? d.num_graphs() : d.num_nodes(), d);
  if (of_graphs)
    if (const auto targets = find_table(source.raw, "node-target"))
      d.node_targets =
          read_number_table<float>(*targets, {.rows = d.num_nodes(), .rows_are = "nodes"});
}

Dataset parse_dataset(const fs::path& dir) {
  const RawSource source{dir, dir / "raw", find_info(dir)};
  Dataset d;
  d.info = source.given.info;
  std::string target_type;
  if (is_hetero(source)) {
    read_hetero(source, d);
    target_type = d.hetero.schema.node_types[d.hetero.target_type];
  } else {
    read_homogeneous(source, d);
  }
  d.splits = read_splits(dir, d.num_items(), target_type);
  return d;
}

}  // namespace

Array<int64_t> read_bounds(const fs::path& path, bool of_nodes) {
  const auto counts = read_number_column<int64_t>(path);
  // Edges name the nodes of a graph with 32 bits.
  const int64_t most = of_nodes ? std::numeric_limits<int32_t>::max() : int64_t{1} << 40;
  const char* of_what = of_nodes ? "nodes" : "edges";
  std::vector<int64_t> first;
  first.reserve(static_cast<size_t>(counts.size()) + 1);
  first.push_back(0);
  for (int64_t k = 0; k < counts.size(); ++k) {
    if (counts[k] < 0 || counts[k] > most || first.back() > (int64_t{1} << 50))
      fail(ErrorKind::kData, "{}:{}: expected a number of {}, got {}", path.string(), k + 1,
           of_what, counts[k]);
    first.push_back(first.back() + counts[k]);
  }
  check_data(counts.size() > 0, "{}: expected a line for each graph, found none", path.string());
  return first;
}

Dataset read_dataset(const fs::path& dir, const ReadOptions& options) {
  try {
    check_is_dataset(dir);
    if (!options.cache) return parse_dataset(dir);
    // Taken before anything is read: should a file change meanwhile, the cache is stale, not wrong.
    const std::string stamp = source_stamp(dir);
    std::optional<Dataset> d = load_cache(dir, stamp);
    if (!d) {
      d = parse_dataset(dir);
      store_cache(dir, stamp, *d);
    }
    d->directory = dir.string();
    return *std::move(d);
  } catch (const fs::filesystem_error& e) {  // a name too long, links in a circle
    fail(ErrorKind::kData, "{}: cannot be read: {}", e.path1().string(), e.code().message());
  }
}

}  // namespace egc::data
