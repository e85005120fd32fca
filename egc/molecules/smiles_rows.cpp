#include "egc/molecules/smiles_rows.h"

#include <algorithm>
#include <cctype>

#include "egc/core/error.h"

namespace egc::molecules {
namespace {

bool is_table(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".csv") || name.ends_with(".tsv");
}

std::string find_smiles_column(const data::TextTable& table, const std::string& asked) {
  if (!asked.empty()) return asked;
  for (const std::string& name : table.columns()) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (lower == "smiles") return name;
  }
  return "smiles";  // the error lists the columns
}

}  // namespace

SmilesRows::SmilesRows(const std::filesystem::path& path, const std::string& column,
                       const std::vector<std::string>& labels) {
  if (!is_table(path)) {
    check(labels.empty(), "{}: labels need a table with column names (.csv or .tsv, may be .gz)",
          path.string());
    lines_.emplace(path);
    return;
  }
  table_.emplace(path);
  smiles_ = table_->column(find_smiles_column(*table_, column));
  for (const std::string& name : labels) labels_.push_back(table_->column(name));
}

bool SmilesRows::next(SmilesRow& row) {
  row.labels.clear();
  return table_ ? next_of_table(row) : next_line(row);
}

bool SmilesRows::next_of_table(SmilesRow& row) {
  if (!table_->next(fields_)) return false;
  row.line = table_->line_number();
  row.smiles = fields_[smiles_];
  for (const size_t column : labels_) {
    double value = 0;
    check_data(data::parse_field(fields_[column], value),
               "{}: column \"{}\": expected a number or nothing, got \"{}\"", table_->where(),
               table_->columns()[column], fields_[column].substr(0, 40));
    row.labels.push_back(static_cast<float>(value));
  }
  return true;
}

// What follows a blank is a name.
bool SmilesRows::next_line(SmilesRow& row) {
  std::string_view line;
  while (lines_->next(line)) {
    line = line.substr(0, line.find_first_of(" \t"));
    if (line.empty()) continue;
    row.line = lines_->line_number();
    row.smiles = line;
    return true;
  }
  return false;
}

}  // namespace egc::molecules
