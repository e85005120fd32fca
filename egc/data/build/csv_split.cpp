#include "egc/data/build/csv_split.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "egc/core/error.h"
#include "egc/data/formats/text_table.h"

namespace egc::data {
namespace {

// The part of a split that a cell names: 0 train, 1 valid, 2 test; -1: none; nothing: no such part.
std::optional<int> part_of(std::string cell) {
  if (is_missing(cell)) return -1;
  std::transform(cell.begin(), cell.end(), cell.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::pair<const char*, int>, 9> kParts = {{{"train", 0},
                                                                  {"training", 0},
                                                                  {"valid", 1},
                                                                  {"val", 1},
                                                                  {"validation", 1},
                                                                  {"dev", 1},
                                                                  {"test", 2},
                                                                  {"testing", 2},
                                                                  {"none", -1}}};
  for (const auto& [name, part] : kParts)
    if (cell == name) return part;
  return std::nullopt;
}

}  // namespace

std::string find_split_column(const CsvTable& table, const std::string& asked_for,
                              const std::vector<std::string>& others,
                              std::vector<std::string>& notices) {
  const bool asked = !asked_for.empty();
  const std::string name = asked ? asked_for : "split";
  if (!table.has(name) || std::find(others.begin(), others.end(), name) != others.end()) return "";
  std::array<bool, 3> seen{};
  const auto& cells = table.at(name);
  for (int64_t row = 0; row < table.rows(); ++row) {
    const auto part = part_of(cells[row]);
    if (!part) {
      const std::string what =
          fmt::format("{}: column \"{}\": expected train, valid or test, got \"{}\"",
                      table.where(row), name, cells[row].substr(0, 40));
      check_data(!asked, "{}", what);
      notices.push_back(what + "; using a random split, and the column as a feature");
      return "";
    }
    if (*part >= 0) seen[*part] = true;
  }
  if (seen[0] && seen[2]) return name;
  check_data(!asked, "{}: column \"{}\" must contain both train and test", table.path, name);
  notices.push_back(
      fmt::format("{}: column \"{}\" does not contain both train and test; using a random split, "
                  "and the column as a feature",
                  table.path, name));
  return "";
}

Split split_of_column(const CsvTable& table, const std::string& column,
                      std::span<const int64_t> row_of_item) {
  std::array<std::vector<int64_t>, 3> parts;
  for (size_t item = 0; item < row_of_item.size(); ++item)
    if (const int part = *part_of(table.at(column)[row_of_item[item]]); part >= 0)
      parts[part].push_back(static_cast<int64_t>(item));
  return {column, parts[0], parts[1], parts[2]};
}

}  // namespace egc::data
