// All of a table of text, column by column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace egc::data {

struct CsvTable {
  std::string path;
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> values;
  std::vector<int64_t> lines;  // of each row

  int64_t rows() const { return static_cast<int64_t>(lines.size()); }
  bool has(const std::string& name) const;
  // Of a column that is there.
  const std::vector<std::string>& at(const std::string& name) const;
  std::string where(int64_t row) const;
};

// `needed`: names that must be there. Throws kData where there are no rows, unless that is fine.
CsvTable read_csv_table(const std::filesystem::path& path, const std::vector<std::string>& needed,
                        bool may_be_empty = false);

// The numbers of a column, NaN where they are missing, or nothing where some value is text.
std::optional<std::vector<double>> as_numbers(const std::vector<std::string>& values);

// Distinct values that are there, sorted.
std::vector<std::string> distinct(const std::vector<std::string>& values);

}  // namespace egc::data
