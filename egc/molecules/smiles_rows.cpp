#include "egc/molecules/smiles_rows.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "egc/core/error.h"

namespace egc::molecules {
namespace {

bool is_table(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".csv") || name.ends_with(".tsv");
}

bool is_smiles(std::string_view name) {
  constexpr std::string_view kName = "smiles";
  return std::equal(name.begin(), name.end(), kName.begin(), kName.end(),
                    [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
}

std::string find_smiles_column(const data::TextTable& table, const std::string& asked) {
  if (!asked.empty()) return asked;
  for (const std::string& name : table.columns())
    if (is_smiles(name)) return name;
  return "smiles";  // the error lists the columns
}

// Whether one of the fields of a first line is called smiles; `separators`: what may stand between.
bool names_smiles(std::string_view line, std::string_view separators) {
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.find_first_of(separators, at), line.size());
    std::string_view field = line.substr(at, end - at);
    if (field.size() >= 2 && field.front() == '"') field = field.substr(1, field.size() - 2);
    if (is_smiles(field)) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

SmilesRows::SmilesRows(const std::filesystem::path& path, const std::string& column,
                       const std::vector<std::string>& labels) {
  if (molecules::is_table(path)) {
    open_table(data::TextTable(path), column, labels);
    return;
  }
  auto lines = std::make_unique<data::TextLinesReader>(path);
  std::string_view line;
  if (lines->next(line)) first_line_ = line;
  if (first_line_ && (!column.empty() || names_smiles(*first_line_, ",\t;|"))) {
    const std::string header = *std::exchange(first_line_, std::nullopt);
    open_table(data::TextTable(path, std::move(lines), header), column, labels);
    return;
  }
  check(labels.empty(),
        "{}: --label needs a table with a header row (.csv or .tsv, optionally .gz)",
        path.string());
  lines_ = std::move(lines);
  // Programs that write names behind the SMILES may write a title.
  if (first_line_ && is_smiles(first_line_->substr(0, first_line_->find(' ')))) first_line_.reset();
}

void SmilesRows::open_table(data::TextTable table, const std::string& column,
                            const std::vector<std::string>& labels) {
  table_.emplace(std::move(table));
  smiles_ = table_->column(find_smiles_column(*table_, column));
  smiles_column_ = table_->columns()[smiles_];
  for (const std::string& name : labels) labels_.push_back(table_->column(name));
  for (size_t k = 0; k < table_->columns().size(); ++k) {
    if (k == smiles_ || std::find(labels_.begin(), labels_.end(), k) != labels_.end()) continue;
    other_.push_back(k);
    other_columns_.push_back(table_->columns()[k]);
  }
}

bool SmilesRows::next(SmilesRow& row) {
  row.labels.clear();
  row.other.clear();
  row.name.clear();
  if (!(table_ ? next_of_table(row) : next_line(row))) return false;
  row.number = next_number_++;
  return true;
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
  for (const size_t column : other_) row.other.push_back(fields_[column]);
  return true;
}

// What follows a blank is a name.
bool SmilesRows::next_line(SmilesRow& row) {
  std::string_view line;
  std::string kept;
  for (;;) {
    if (first_line_) {
      kept = *std::exchange(first_line_, std::nullopt);
      line = kept;
    } else if (!lines_->next(line)) {
      return false;
    }
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    if (end == 0) continue;
    row.line = lines_->line_number();
    row.smiles = line.substr(0, end);
    const size_t name = line.find_first_not_of(" \t", end);
    if (name != std::string_view::npos)
      row.name = line.substr(name, line.find_last_not_of(" \t") - name + 1);
    return true;
  }
}

}  // namespace egc::molecules
