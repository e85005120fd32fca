// Tables of text with a header: what people export from spreadsheets and databases. Fields are
// separated by commas, tabs, semicolons or bars, whichever the header has most of, and may be
// quoted; plain or gzip.
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

class TextTable {
 public:
  // Reads the header. Throws kData where there is none, or a name comes twice.
  explicit TextTable(const std::filesystem::path& path);
  // The header was read from `lines` already. path: for messages.
  TextTable(const std::filesystem::path& path, std::unique_ptr<TextLinesReader> lines,
            std::string_view header);

  const std::vector<std::string>& columns() const { return columns_; }
  // The index of a column; throws kUsage with the known names.
  size_t column(const std::string& name) const;

  // The next row; false at the end. Throws kData where it has another number of fields.
  bool next(std::vector<std::string>& fields);
  int64_t line_number() const { return lines_->line_number(); }
  std::string where() const { return fmt::format("{}:{}", path_.string(), line_number()); }

 private:
  void read_header(std::string_view line);
  void split(std::string_view line, std::vector<std::string>& fields) const;

  std::filesystem::path path_;
  std::unique_ptr<TextLinesReader> lines_;
  char separator_ = ',';
  std::vector<std::string> columns_;
};

// What spreadsheets, databases and statistics programs write for no value, in any case: nothing,
// na, n/a, #n/a, nan, none, null, nil, ?, -, and the infinities.
bool is_missing(std::string_view field);
// A field as a number, NaN where it is missing. Commas may stand between thousands. False where it
// is neither.
bool parse_field(std::string_view field, double& value);

}  // namespace egc::data
