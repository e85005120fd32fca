#include "egc/data/raw/table_files.h"

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/data/formats/npy.h"
#include "egc/data/formats/number_table.h"
#include "egc/data/formats/text_blocks.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;

bool looks_like_floats(const fs::path& path) {
  TextBlocks blocks(path);
  return blocks.next().find_first_of(".eEnN") != std::string_view::npos;
}

// Values must be below the given numbers; without these, the largest value of a column tells.
void check_categories(const Matrix<int32_t>& m, std::vector<int64_t>& categories,
                      const fs::path& path) {
  const bool given = !categories.empty();
  if (given)
    check_data(static_cast<int64_t>(categories.size()) == m.columns,
               "{}: expected {} columns, one for each of dataset.json's categories, found {}",
               path.string(), categories.size(), m.columns);
  std::vector<int64_t> largest(static_cast<size_t>(m.columns), 0);
  const int64_t rows = m.rows();
  const int32_t* value = m.values.span().data();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < m.columns; ++j, ++value) {
      if (*value < 0 || (given && *value >= categories[j]))
        fail(ErrorKind::kData, "{}:{}: column {}: a category must be in [0, {}), got {}",
             path.string(), i + 1, j + 1, given ? std::to_string(categories[j]) : "2^31", *value);
      largest[j] = std::max<int64_t>(largest[j], *value);
    }
  if (given) return;
  for (const int64_t most : largest) categories.push_back(most + 1);
}

void check_finite(const Matrix<float>& m, const fs::path& path) {
  for (int64_t k = 0; k < m.values.size(); ++k)
    check_data(std::isfinite(m.values[k]),
               "{}: row {}: column {}: expected a finite number, got {}", path.string(),
               k / m.columns + 1, k % m.columns + 1, m.values[k]);
}

Features read_npy_features(const fs::path& path, int64_t rows, const char* rows_are, bool floats,
                           std::vector<int64_t>& categories) {
  Features out;
  if (floats) {
    out.floats = read_npy<float>(path);
    check_finite(out.floats, path);
  } else {
    out.categories = read_npy<int32_t>(path);
    check_categories(out.categories, categories, path);
  }
  check_data(out.rows() == rows, "{}: expected {} rows, one for each of the {}, found {}",
             path.string(), rows, rows_are, out.rows());
  return out;
}

}  // namespace

std::string folder_name(const fs::path& dir) {
  fs::path path = fs::absolute(dir).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

std::optional<fs::path> find_file(const fs::path& dir, const std::string& stem,
                                  std::initializer_list<const char*> endings) {
  std::error_code ignored;
  for (const char* ending : endings)
    if (fs::path path = dir / (stem + ending); fs::exists(path, ignored)) return path;
  return std::nullopt;
}

std::optional<fs::path> find_table(const fs::path& dir, const std::string& stem) {
  return find_file(dir, stem, {".csv.gz", ".csv"});
}

fs::path need_table(const fs::path& dir, const std::string& stem) {
  if (const auto path = find_table(dir, stem)) return *path;
  fail(ErrorKind::kData, "{}: not found, nor {}.csv", (dir / (stem + ".csv.gz")).string(), stem);
}

void ignore_edge_files(const fs::path& dir, const char* why) {
  for (const char* stem : {"edge-feat", "edge-weight"})
    if (const auto path = find_file(dir, stem, {".csv.gz", ".csv", ".npy"}))
      log_warning("{}: ignored: {}", path->string(), why);
}

Features read_features(const fs::path& dir, const std::string& stem, int64_t rows,
                       const char* rows_are, std::optional<FeatureKind> kind,
                       std::vector<int64_t>& categories) {
  if (kind == FeatureKind::kNone) return {};
  if (const auto npy = find_file(dir, stem, {".npy"}))
    return read_npy_features(*npy, rows, rows_are,
                             kind ? *kind == FeatureKind::kFloat : npy_has_floats(*npy),
                             categories);
  const auto path = find_table(dir, stem);
  if (!path) {
    if (kind)
      fail(ErrorKind::kData, "{}: not found, nor {}.csv, nor {}.npy; dataset.json says {} features",
           (dir / (stem + ".csv.gz")).string(), stem, stem, feature_kinds().name_of(*kind));
    return {};
  }
  const TableRules rules{.rows = rows, .rows_are = rows_are};
  Features out;
  if (kind ? *kind == FeatureKind::kFloat : looks_like_floats(*path)) {
    out.floats = read_number_table<float>(*path, rules);
  } else {
    out.categories = read_number_table<int32_t>(*path, rules);
    check_categories(out.categories, categories, *path);
  }
  return out;
}

}  // namespace egc::data
