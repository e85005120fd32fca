#include "egc/data/raw/write_dataset.h"

#include <unistd.h>

#include <cmath>
#include <fstream>

#include "egc/core/error.h"
#include "egc/data/formats/gz_writer.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;

template <class T>
void write_rows(const fs::path& path, const Matrix<T>& m, int64_t from = 0, int64_t columns = -1) {
  if (columns < 0) columns = m.columns;
  GzWriter out(path);
  for (int64_t i = 0; i < m.rows(); ++i)
    for (int64_t j = from; j < from + columns; ++j) {
      const char end = j + 1 < from + columns ? ',' : '\n';
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(m.at(i, j))) {  // no label
          out.print("nan{}", end);
          continue;
        }
      }
      out.print("{}{}", m.at(i, j), end);
    }
  out.close();
}

template <class T>
void write_column(const fs::path& path, const Array<T>& values) {
  GzWriter out(path);
  for (const T value : values) out.print("{}\n", static_cast<int64_t>(value));
  out.close();
}

void write_counts(const fs::path& path, const Array<int64_t>& first) {
  GzWriter out(path);
  for (int64_t k = 0; k + 1 < first.size(); ++k) out.print("{}\n", first[k + 1] - first[k]);
  out.close();
}

void write_features(const fs::path& dir, const std::string& stem, const Features& f) {
  const fs::path path = dir / (stem + ".csv.gz");
  if (!f.floats.empty()) write_rows(path, f.floats);
  if (!f.categories.empty()) write_rows(path, f.categories);
}

void write_labels(const fs::path& dir, const Dataset& d) {
  const fs::path path =
      dir / (is_graph_task(d.info.task) ? "graph-label.csv.gz" : "node-label.csv.gz");
  if (!d.labels.classes.empty()) return write_column(path, d.labels.classes);
  if (!d.labels.values.empty()) return write_rows(path, d.labels.values);
  GzWriter out(path);
  for (int64_t k = 0; k < d.labels.tokens.size(); ++k) out.print("{}\n", d.labels.tokens[k]);
  out.close();
}

void write_homogeneous(const fs::path& raw, const Dataset& d) {
  write_counts(raw / "num-node-list.csv.gz", d.first_node);
  write_counts(raw / "num-edge-list.csv.gz", d.first_edge);
  write_rows(raw / "edge.csv.gz", d.edges);
  if (d.node_is_attributed.empty()) {
    write_features(raw, "node-feat", d.node_features);
  } else {  // Code-V2 has the depth in a table of its own
    const auto& x = d.node_features.categories;
    write_rows(raw / "node-feat.csv.gz", x, 0, 2);
    write_rows(raw / "node_depth.csv.gz", x, 2, 1);
    write_column(raw / "node_is_attributed.csv.gz", d.node_is_attributed);
  }
  write_features(raw, "edge-feat", d.edge_features);
  if (!d.edge_weights.empty())
    write_rows(raw / "edge-weight.csv.gz", Matrix<float>{d.edge_weights, 1});
  if (!d.node_targets.empty()) write_rows(raw / "node-target.csv.gz", d.node_targets);
  write_labels(raw, d);
}

void write_hetero(const fs::path& raw, const Dataset& d) {
  const HeteroParts& h = d.hetero;
  GzWriter nodes(raw / "num-node-dict.csv.gz");
  nodes.print("{}\n{}\n", fmt::join(h.schema.node_types, ","), fmt::join(h.num_nodes, ","));
  nodes.close();
  GzWriter triplets(raw / "triplet-type-list.csv.gz");
  for (size_t r = 0; r < h.edges.size(); ++r) {
    const auto& relation = h.schema.relations[r];
    const std::string& head = h.schema.node_types[relation.source];
    const std::string& tail = h.schema.node_types[relation.target];
    triplets.print("{},{},{}\n", head, relation.name, tail);
    const fs::path dir = raw / "relations" / fmt::format("{}___{}___{}", head, relation.name, tail);
    fs::create_directories(dir);
    write_rows(dir / "edge.csv.gz", h.edges[r]);
    write_counts(dir / "num-edge-list.csv.gz", std::vector<int64_t>{0, h.edges[r].rows()});
  }
  triplets.close();
  for (size_t t = 0; t < h.features.size(); ++t) {
    if (h.features[t].empty()) continue;
    const fs::path dir = raw / "node-feat" / h.schema.node_types[t];
    fs::create_directories(dir);
    write_features(dir, "node-feat", h.features[t]);
  }
  const fs::path labels = raw / "node-label" / h.schema.node_types[h.target_type];
  fs::create_directories(labels);
  write_labels(labels, d);
}

}  // namespace

void check_new_directory(const fs::path& dir) {
  std::error_code error;
  if (fs::exists(dir, error) && !(fs::is_directory(dir, error) && fs::is_empty(dir, error)))
    fail(ErrorKind::kUsage, "{}: already exists and is not empty; choose another --out",
         dir.string());
}

void write_text_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) fail(ErrorKind::kSystem, "{}: cannot be written", path.string());
}

void write_words(const fs::path& path, const std::string& what,
                 const std::vector<std::string>& words) {
  fs::create_directories(path.parent_path());
  GzWriter out(path);
  out.print("{} idx,{}\n", what, what);
  for (size_t k = 0; k < words.size(); ++k) {
    std::string quoted;
    for (const char c : words[k])  // a quote is doubled, a line's end would end the record
      quoted += c == '"' ? "\"\"" : c == '\n' || c == '\r' ? " " : std::string(1, c);
    const bool plain = quoted.find_first_of(",\"") == std::string::npos;
    out.print("{},{}\n", k, plain ? quoted : fmt::format("\"{}\"", quoted));
  }
  out.close();
}

void create_directory_whole(const fs::path& dir, const std::function<void(const fs::path&)>& fill) {
  check_new_directory(dir);
  std::error_code error;
  fs::path target = fs::absolute(dir, error).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  const fs::path temporary = target.string() + fmt::format(".partial.{}", getpid());
  std::error_code ignored;
  try {
    fs::remove_all(temporary);
    fs::create_directories(temporary);
    fill(temporary);
    if (fs::exists(target)) fs::remove(target);
    fs::rename(temporary, target);
  } catch (const fs::filesystem_error& e) {
    fs::remove_all(temporary, ignored);
    fail(ErrorKind::kSystem, "{}: cannot be written: {}", dir.string(), e.code().message());
  } catch (...) {
    fs::remove_all(temporary, ignored);
    throw;
  }
}

void write_dataset_files(const Dataset& d, const fs::path& dir) {
  fs::create_directories(dir / "raw");
  d.hetero.empty() ? write_homogeneous(dir / "raw", d) : write_hetero(dir / "raw", d);
  for (const Split& split : d.splits) {
    fs::path to = dir / "split" / split.name;
    if (!d.hetero.empty()) to /= d.hetero.schema.node_types[d.hetero.target_type];
    fs::create_directories(to);
    write_column(to / "train.csv.gz", split.train);
    if (!split.valid.empty()) write_column(to / "valid.csv.gz", split.valid);
    write_column(to / "test.csv.gz", split.test);
  }
  write_text_file(dir / "dataset.json", to_json(d.info) + "\n");
}

void write_dataset(const Dataset& dataset, const fs::path& dir) {
  create_directory_whole(dir, [&](const fs::path& to) { write_dataset_files(dataset, to); });
}

}  // namespace egc::data
