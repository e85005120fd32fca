#include "egc/data/formats/csv_table.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "egc/core/error.h"
#include "egc/data/formats/text_table.h"

namespace egc::data {

bool CsvTable::has(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string>& CsvTable::at(const std::string& name) const {
  return values[static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
}

std::string CsvTable::where(int64_t row) const { return fmt::format("{}:{}", path, lines[row]); }

CsvTable read_csv_table(const std::filesystem::path& path, const std::vector<std::string>& needed,
                        bool may_be_empty) {
  TextTable table(path);
  for (const std::string& name : needed)
    if (!name.empty()) table.column(name);
  CsvTable out;
  out.path = path.string();
  out.names = table.columns();
  out.values.resize(out.names.size());
  std::vector<std::string> fields;
  while (table.next(fields)) {
    for (size_t k = 0; k < fields.size(); ++k) out.values[k].push_back(std::move(fields[k]));
    out.lines.push_back(table.line_number());
  }
  check_data(may_be_empty || out.rows() > 0, "{}: no rows below the header row", out.path);
  return out;
}

std::optional<std::vector<double>> as_numbers(const std::vector<std::string>& values) {
  std::vector<double> out(values.size());
  bool any = false;
  for (size_t k = 0; k < values.size(); ++k) {
    if (!parse_field(values[k], out[k])) return std::nullopt;
    any |= !std::isnan(out[k]);
  }
  if (!any) return std::nullopt;  // all missing: a text column of one value
  return out;
}

std::vector<std::string> distinct(const std::vector<std::string>& values) {
  std::set<std::string> out;
  for (const std::string& v : values)
    if (!is_missing(v)) out.insert(v);
  return {out.begin(), out.end()};
}

}  // namespace egc::data
