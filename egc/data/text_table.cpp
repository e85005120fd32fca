#include "egc/data/text_table.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace egc::data {
namespace {

std::string_view trimmed(std::string_view field) {
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
  return field;
}

}  // namespace

TextTable::TextTable(const std::filesystem::path& path) : path_(path), lines_(path) {
  std::string_view line;
  check_data(lines_.next(line) && !line.empty(), "{}: expected a first line of column names",
             path.string());
  if (line.find(',') == std::string_view::npos && line.find('\t') != std::string_view::npos)
    separator_ = '\t';
  split(line, columns_);
  std::set<std::string_view> names;
  for (size_t k = 0; k < columns_.size(); ++k) {
    check_data(!columns_[k].empty(), "{}:1: column {} has no name", path.string(), k + 1);
    check_data(names.insert(columns_[k]).second, "{}:1: the column \"{}\" comes twice",
               path.string(), columns_[k]);
  }
}

size_t TextTable::column(const std::string& name) const {
  const auto it = std::find(columns_.begin(), columns_.end(), name);
  if (it == columns_.end())
    fail(ErrorKind::kUsage, "{}: there is no column \"{}\"; its columns are {}", path_.string(),
         name, fmt::join(columns_, ", "));
  return static_cast<size_t>(it - columns_.begin());
}

bool TextTable::next(std::vector<std::string>& fields) {
  std::string_view line;
  do {
    if (!lines_.next(line)) return false;
  } while (line.empty());
  split(line, fields);
  if (fields.size() != columns_.size())
    fail(ErrorKind::kData, "{}: expected {} fields, as many as the first line has names, found {}",
         where(), columns_.size(), fields.size());
  return true;
}

void TextTable::split(std::string_view line, std::vector<std::string>& fields) const {
  fields.clear();
  for (size_t at = 0;;) {
    std::string& field = fields.emplace_back();
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        if (at >= line.size())
          fail(ErrorKind::kData, "{}: a quoted field does not end on its line", where());
        if (line[at] != '"') {
          field.push_back(line[at]);
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          field.push_back('"');
          ++at;
        } else {
          break;
        }
      }
      ++at;
      if (at < line.size() && line[at] != separator_)
        fail(ErrorKind::kData, "{}: text after the end of a quoted field", where());
    } else {
      const size_t end = std::min(line.find(separator_, at), line.size());
      field = trimmed(line.substr(at, end - at));
      at = end;
    }
    if (at >= line.size()) return;
    ++at;  // the separator; a last empty field follows where it ends the line
  }
}

bool is_missing(std::string_view field) {
  return field.empty() || field == "nan" || field == "NaN" || field == "NA" || field == "null";
}

bool parse_field(std::string_view field, double& value) {
  field = trimmed(field);
  if (is_missing(field)) {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (field.front() == '+' && !field.starts_with("+-")) field.remove_prefix(1);
  const auto [next, error] =
      fast_float::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && next == field.data() + field.size() && std::isfinite(value);
}

}  // namespace egc::data
