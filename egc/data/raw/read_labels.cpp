#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/data/formats/number_table.h"
#include "egc/data/formats/text_blocks.h"
#include "egc/data/formats/text_table.h"
#include "egc/data/raw/raw_reader.h"
#include "egc/data/raw/table_files.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;

TextLines read_token_lines(const fs::path& path, int64_t rows) {
  std::vector<int64_t> first = {0};
  std::vector<char> bytes;
  TextLinesReader lines(path);
  std::string_view line;
  while (lines.next(line)) {
    if (static_cast<int64_t>(first.size()) > rows)
      fail(ErrorKind::kData, "{}:{}: expected {} lines, one for each of the graphs, found more",
           path.string(), lines.line_number(), rows);
    bytes.insert(bytes.end(), line.begin(), line.end());
    first.push_back(static_cast<int64_t>(bytes.size()));
  }
  const auto found = static_cast<int64_t>(first.size()) - 1;
  check_data(found == rows, "{}: expected {} lines, one for each of the graphs, found {}",
             path.string(), rows, found);
  return {Array<int64_t>(std::move(first)), Array<char>(std::move(bytes))};
}

// Whether some of the first lines is no row of numbers.
bool has_words(const fs::path& path) {
  TextLinesReader lines(path);
  std::string_view line;
  for (int k = 0; k < 100 && lines.next(line); ++k)
    for (size_t begin = 0; begin <= line.size();) {
      const size_t end = std::min(line.find(',', begin), line.size());
      double ignored = 0;
      if (!parse_field(line.substr(begin, end - begin), ignored)) return true;
      begin = end + 1;
    }
  return false;
}

// What the labels themselves look like, where dataset.json does not say.
Task guess_graph_task(const Matrix<float>& values, const fs::path& path) {
  bool all_integers = true;
  bool bits = true;
  bool signs = true;  // nothing but -1 and 1
  for (const float v : values.values) {
    if (std::isnan(v)) continue;
    all_integers &= v == std::floor(v);
    bits &= v == 0 || v == 1;
    signs &= v == -1 || v == 1;
    all_integers &= v >= -1;  // -1 may stand for no label, other negatives are numbers
  }
  check_data(!signs || values.empty(),
             "{}: the labels are -1 and 1, but -1 means unlabelled; use 0 for the negative class, "
             "or set \"task\": \"graph-regression\" in dataset.json",
             path.string());
  if (values.columns > 1) return bits ? Task::kGraphBinary : Task::kGraphRegression;
  return all_integers ? Task::kGraphClassification : Task::kGraphRegression;
}

Array<int32_t> to_classes(const Matrix<float>& values, const fs::path& path, bool given,
                          int64_t& num_classes) {
  std::vector<int32_t> out;
  out.reserve(static_cast<size_t>(values.values.size()));
  int64_t largest = -1;
  for (int64_t i = 0; i < values.values.size(); ++i) {
    const float v = values.values[i];
    if (std::isnan(v) || v == -1) {
      out.push_back(-1);
      continue;
    }
    const bool fits =
        v >= 0 && v == std::floor(v) && v < (given ? static_cast<float>(num_classes) : 16777216.F);
    if (!fits)
      fail(ErrorKind::kData, "{}:{}: expected a class in [0, {}), or -1 for none, got {}",
           path.string(), i + 1, given ? num_classes : int64_t{16777216}, v);
    out.push_back(static_cast<int32_t>(v));
    largest = std::max<int64_t>(largest, out.back());
  }
  if (!given) num_classes = largest + 1;
  return out;
}

void check_bits(const Matrix<float>& values, const fs::path& path) {
  for (int64_t k = 0; k < values.values.size(); ++k) {
    const float v = values.values[k];
    if (!std::isnan(v) && v != 0 && v != 1)
      fail(ErrorKind::kData, "{}:{}: expected 0, 1, or nothing for no label, got {}", path.string(),
           k / values.columns + 1, v);
  }
}

}  // namespace

bool labels_are_of_graphs(const RawSource& source) {
  return source.given.has("task") ? is_graph_task(source.given.info.task)
                                  : find_table(source.raw, "graph-label").has_value();
}

void read_labels(const RawSource& source, const fs::path& dir, int64_t rows, Dataset& dataset) {
  DatasetInfo& info = dataset.info;
  const bool given = source.given.has("task");
  const bool of_graphs = dataset.hetero.empty() && labels_are_of_graphs(source);
  const std::string stem = of_graphs ? "graph-label" : "node-label";
  const char* rows_are = of_graphs ? "graphs" : "nodes";
  const fs::path path = need_table(dir, stem);
  if (of_graphs && !given && has_words(path)) info.task = Task::kGraphSequence;
  if (of_graphs && info.task == Task::kGraphSequence) {
    dataset.labels.tokens = read_token_lines(path, rows);
  } else {
    const int64_t columns = of_graphs ? -1 : 1;
    const auto values = read_number_table<float>(
        path, {.rows = rows, .columns = columns, .may_miss = true, .rows_are = rows_are});
    if (!given && of_graphs) info.task = guess_graph_task(values, path);
    if (!given && !of_graphs && dataset.hetero.empty()) info.task = Task::kNodeClassification;
    if (info.task == Task::kGraphRegression || info.task == Task::kGraphBinary) {
      if (info.task == Task::kGraphBinary) check_bits(values, path);
      check_data(!source.given.has("num_targets") || values.columns == info.num_targets,
                 "{}: expected {} columns, dataset.json's num_targets, found {}", path.string(),
                 info.num_targets, values.columns);
      info.num_targets = std::max<int64_t>(1, values.columns);
      dataset.labels.values = values;
    } else {
      check_data(values.columns <= 1, "{}: expected one column, the class, found {}", path.string(),
                 values.columns);
      dataset.labels.classes =
          to_classes(values, path, source.given.has("num_classes"), info.num_classes);
    }
  }
  if (!source.given.has("metric")) info.metric = usual_metric(info.task);
}

}  // namespace egc::data
