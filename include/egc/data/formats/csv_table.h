// A whole table of text in memory, by column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace egc::data {

// A table.
struct CsvTable {
  std::string path;                              // for messages
  std::vector<std::string> names;                // of the columns
  std::vector<std::vector<std::string>> values;  // [columns][rows]
  std::vector<int64_t> lines;                    // line number of each row in the file

  int64_t rows() const { return static_cast<int64_t>(lines.size()); }  // number of rows
  bool has(const std::string& name) const;  // whether there is such a column
  const std::vector<std::string>& at(const std::string& name) const;  // an existing column
  std::string where(int64_t row) const;  // file and line of a row, for messages
};

// Reads a table. needed: columns that must exist. Throws kData; also for a table without rows
// unless may_be_empty.
CsvTable read_csv_table(const std::filesystem::path& path, const std::vector<std::string>& needed,
                        bool may_be_empty = false);

// A column as numbers, NaN where missing; nothing if a value is text.
std::optional<std::vector<double>> as_numbers(const std::vector<std::string>& values);

// The distinct values, sorted, without missing ones.
std::vector<std::string> distinct(const std::vector<std::string>& values);

}  // namespace egc::data
