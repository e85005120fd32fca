// Tables of text with a header. Fields are separated by commas, tabs, semicolons or bars, whichever
// is most frequent in the header, and may be quoted; plain or gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "egc/core/error.h"
#include "egc/data/formats/text_blocks.h"

namespace egc::data {

// Reads a table row by row.
class TextTable {
 public:
  // Reads the header. Throws kData if there is none or a name is repeated.
  explicit TextTable(const std::filesystem::path& path);
  // As above, after the header was read from `lines`. path: for messages.
  TextTable(const std::filesystem::path& path, std::unique_ptr<TextLinesReader> lines,
            std::string_view header);

  const std::vector<std::string>& columns() const { return columns_; }  // names
  // Index of a name; throws kUsage with the known names.
  size_t column(const std::string& name) const;

  // Reads the next row; false at the end. Throws kData where the number of fields differs.
  bool next(std::vector<std::string>& fields);
  int64_t line_number() const { return lines_->line_number(); }  // of the last row
  // File and line, for messages.
  std::string where() const { return fmt::format("{}:{}", path_.string(), line_number()); }

 private:
  void read_header(std::string_view line);
  void split(std::string_view line, std::vector<std::string>& fields) const;

  std::filesystem::path path_;
  std::unique_ptr<TextLinesReader> lines_;
  char separator_ = ',';
  std::vector<std::string> columns_;
};

// Whether a field means "no value", in any case: empty, na, n/a, \#n/a, nan, none, null, nil, ?, -,
// or an infinity.
bool is_missing(std::string_view field);
// Parses a number, NaN if missing; commas may separate thousands. False if it is neither.
bool parse_field(std::string_view field, double& value);

}  // namespace egc::data
