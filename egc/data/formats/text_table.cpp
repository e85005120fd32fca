#include "egc/data/formats/text_table.h"
#include "egc/data/formats/from_chars.h"

#include <algorithm>
#include <array>
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

// What most fields are separated by, outside of quotes; a comma where there is one field.
char separator_of(std::string_view header) {
  constexpr std::string_view kSeparators = ",\t;|";
  std::array<int64_t, kSeparators.size()> counts{};
  bool quoted = false;
  for (const char c : header) {
    quoted ^= c == '"';
    const size_t at = kSeparators.find(c);
    if (!quoted && at != std::string_view::npos) ++counts[at];
  }
  return kSeparators[static_cast<size_t>(std::max_element(counts.begin(), counts.end()) -
                                         counts.begin())];
}

// Whether bytes are sequences of UTF-8 without zeros; overlong ones are let through.
bool is_utf8(std::string_view text) {
  for (size_t k = 0; k < text.size();) {
    const auto c = static_cast<unsigned char>(text[k++]);
    if (c == 0) return false;
    size_t more = 0;
    if (c >= 0xF0 && c <= 0xF4)
      more = 3;
    else if (c >= 0xE0 && c < 0xF0)
      more = 2;
    else if (c >= 0xC2 && c < 0xE0)
      more = 1;
    else if (c >= 0x80)
      return false;
    for (; more > 0; --more, ++k)
      if (k >= text.size() || (static_cast<unsigned char>(text[k]) & 0xC0U) != 0x80) return false;
  }
  return true;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// 1,234,567.8 without its commas, or nothing where they do not stand between thousands.
std::string without_thousands(std::string_view field) {
  const size_t end = std::min(field.find('.'), field.size());
  std::string out;
  size_t group = 0;  // digits since the last comma
  bool any_comma = false;
  for (size_t k = 0; k < end; ++k) {
    const char c = field[k];
    if (c == '-' && k == 0) {
      out.push_back(c);
    } else if (is_digit(c)) {
      out.push_back(c);
      if (++group > 3) return "";
    } else if (c == ',' && (any_comma ? group == 3 : group > 0)) {
      any_comma = true;
      group = 0;
    } else {
      return "";
    }
  }
  return group == 3 ? out.append(field.substr(end)) : "";
}

// The decimal comma of a table whose fields are separated by semicolons.
void use_decimal_point(std::string& field) {
  const size_t comma = field.find(',');
  if (comma == std::string::npos || comma + 1 == field.size()) return;
  for (size_t k = 0; k < field.size(); ++k)
    if (k != comma && !is_digit(field[k]) && !(k == 0 && (field[k] == '-' || field[k] == '+')))
      return;
  field[comma] = '.';
}

}  // namespace

TextTable::TextTable(const std::filesystem::path& path)
    : path_(path), lines_(std::make_unique<TextLinesReader>(path)) {
  std::string_view line;
  check_data(lines_->next(line) && !line.empty(), "{}: expected a header row with column names",
             path.string());
  read_header(line);
}

TextTable::TextTable(const std::filesystem::path& path, std::unique_ptr<TextLinesReader> lines,
                     std::string_view header)
    : path_(path), lines_(std::move(lines)) {
  read_header(header);
}

void TextTable::read_header(std::string_view line) {
  separator_ = separator_of(line);
  split(line, columns_);
  // The index that some programs write first has no name.
  if (columns_[0].empty() && std::find(columns_.begin(), columns_.end(), "id") == columns_.end())
    columns_[0] = "id";
  std::set<std::string_view> names;
  for (size_t k = 0; k < columns_.size(); ++k) {
    check_data(!columns_[k].empty(), "{}:1: column {} has no name", path_.string(), k + 1);
    check_data(names.insert(columns_[k]).second, "{}:1: duplicate column \"{}\"", path_.string(),
               columns_[k]);
  }
}

size_t TextTable::column(const std::string& name) const {
  const auto it = std::find(columns_.begin(), columns_.end(), name);
  if (it == columns_.end())
    fail(ErrorKind::kUsage, "{}: no column \"{}\"; its columns: {}", path_.string(), name,
         fmt::join(columns_, ", "));
  return static_cast<size_t>(it - columns_.begin());
}

bool TextTable::next(std::vector<std::string>& fields) {
  std::string_view line;
  do {
    if (!lines_->next(line)) return false;
  } while (line.empty());
  split(line, fields);
  if (fields.size() != columns_.size())
    fail(ErrorKind::kData, "{}: expected {} fields, as in the header row, found {}", where(),
         columns_.size(), fields.size());
  return true;
}

void TextTable::split(std::string_view line, std::vector<std::string>& fields) const {
  if (!is_utf8(line)) fail(ErrorKind::kData, "{}: invalid UTF-8; save the table as UTF-8", where());
  fields.clear();
  for (size_t at = 0;;) {
    std::string& field = fields.emplace_back();
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        if (at >= line.size())
          fail(ErrorKind::kData, "{}: a quoted field is not closed on its line", where());
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
      if (separator_ == ';') use_decimal_point(field);
      at = end;
    }
    if (at >= line.size()) return;
    ++at;  // the separator; a last empty field follows where it ends the line
  }
}

bool is_missing(std::string_view field) {
  constexpr std::string_view kMissing[] = {
      "",  "na", "n/a", "#n/a", "nan",  "none",     "null",      "nil",
      "?", "-",  "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"};
  if (field.size() > 9) return false;
  std::string lower(field);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(std::begin(kMissing), std::end(kMissing), lower) != std::end(kMissing);
}

bool parse_field(std::string_view field, double& value) {
  field = trimmed(field);
  if (is_missing(field)) {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (field.front() == '+' && !field.starts_with("+-")) field.remove_prefix(1);
  std::string digits;
  if (field.find(',') != std::string_view::npos) field = digits = without_thousands(field);
  const auto [next, error] = data::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && next == field.data() + field.size() && std::isfinite(value);
}

}  // namespace egc::data
