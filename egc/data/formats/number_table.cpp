#include "egc/data/formats/number_table.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include "egc/core/error.h"
#include "egc/data/formats/from_chars.h"
#include "egc/data/formats/text_blocks.h"

namespace egc::data {
namespace {

template <class T>
constexpr const char* kNumber = std::is_floating_point_v<T>
                                    ? "a finite number"
                                    : (sizeof(T) == 4 ? "a 32-bit integer" : "an integer");

bool ends_field(const char* p, const char* end) { return p == end || *p == ',' || *p == '\r'; }

const char* skip_blanks(const char* p, const char* end) {
  while (p != end && (*p == ' ' || *p == '\t')) ++p;
  return p;
}

// The end of the number, or nullptr where there is none.
template <class T>
const char* parse(const char* p, const char* end, T& out) {
  if constexpr (std::is_floating_point_v<T>) {
    if (p != end && *p == '+' && p + 1 != end && p[1] != '-') ++p;
    const auto [next, error] = data::from_chars(p, end, out);
    return error == std::errc() ? next : nullptr;
  } else {
    auto [next, error] = std::from_chars(p, end, out);
    if (error != std::errc()) return nullptr;
    if (next != end && *next == '.') {  // other tools write whole numbers as 3.0
      ++next;
      while (next != end && *next == '0') ++next;
    }
    return next;
  }
}

// Reads line after line into one growing array.
template <class T>
class Parser {
 public:
  Parser(const std::filesystem::path& path, const TableRules& rules)
      : path_(path), rules_(rules), columns_(rules.columns) {}

  Matrix<T> run() {
    TextBlocks blocks(path_);
    for (std::string_view block = blocks.next(); !block.empty(); block = blocks.next()) {
      const char* p = block.data();
      const char* const end = p + block.size();
      while (p != end) {
        const auto* line_end = static_cast<const char*>(
            std::char_traits<char>::find(p, static_cast<size_t>(end - p), '\n'));
        if (line_end == nullptr) line_end = end;
        ++line_;
        take_line(p, line_end);
        p = line_end == end ? end : line_end + 1;
      }
    }
    // Blank lines at the end are missing values as far as rows are missing.
    if (missing_line_allowed())
      for (; blanks_ > 0 && rows_ < rules_.rows; --blanks_) add_missing_row();
    if (rules_.rows >= 0)
      check_data(rows_ == rules_.rows, "{}: expected {} lines, one for each of the {}, found {}",
                 path_.string(), rules_.rows, rules_.rows_are, rows_);
    if (values_.capacity() > values_.size() + values_.size() / 8) values_.shrink_to_fit();
    return {Array<T>(std::move(values_)), columns_ < 0 ? 0 : columns_};
  }

 private:
  template <class... Args>
  [[noreturn]] void fail_here(fmt::format_string<Args...> format, Args&&... args) const {
    fail(ErrorKind::kData, "{}:{}: {}", path_.string(), line_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  static bool is_blank(const char* p, const char* end) {
    p = skip_blanks(p, end);
    return p == end || (*p == '\r' && p + 1 == end);
  }

  void take_line(const char* p, const char* end) {
    if (is_blank(
            p, end)) {  // fine at the end of the file; before more rows it must be a missing value
      if (blanks_++ == 0) first_blank_ = line_;
      return;
    }
    if (columns_ < 0) {
      columns_ = 1;
      for (const char* c = p; c != end; ++c) columns_ += *c == ',';
    }
    if (blanks_ > 0) take_blanks();
    if (rows_ == 0) reserve();
    if (rules_.rows >= 0 && rows_ == rules_.rows)
      fail_here("expected {} lines, one for each of the {}, found more", rules_.rows,
                rules_.rows_are);
    for (int64_t column = 0; column < columns_; ++column) {
      T value{};
      const char* next = field(p, end, value);
      if (next == nullptr) fail_field(p, end, column);
      values_.push_back(value);
      if (column + 1 < columns_) {
        if (next == end || *next != ',')
          fail_here("expected {} columns, found {}", columns_, column + 1);
        p = next + 1;
      } else if (next != end && *next == ',') {
        fail_here("expected {} {}, found more", columns_, columns_ == 1 ? "column" : "columns");
      }
    }
    ++rows_;
  }

  // Blank lines before a row: missing values of a single column, else an error.
  void take_blanks() {
    if (!missing_line_allowed()) {
      line_ = first_blank_;
      fail_here("empty line between rows");
    }
    for (; blanks_ > 0; --blanks_) add_missing_row();
  }
  bool missing_line_allowed() const {
    return std::is_floating_point_v<T> && rules_.may_miss && columns_ == 1;
  }
  void add_missing_row() {
    values_.push_back(std::numeric_limits<T>::quiet_NaN());
    ++rows_;
  }

  // The end of the field, or nullptr where it is no number.
  const char* field(const char* p, const char* end, T& value) const {
    p = skip_blanks(p, end);
    if constexpr (std::is_floating_point_v<T>) {
      if (rules_.may_miss && ends_field(p, end) && (p == end || *p == ',' || p + 1 == end)) {
        value = std::numeric_limits<T>::quiet_NaN();
        return p;
      }
    }
    const char* next = parse(p, end, value);
    if (next == nullptr) return nullptr;
    next = skip_blanks(next, end);
    if (!ends_field(next, end) || (next != end && *next == '\r' && next + 1 != end)) return nullptr;
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value) && !(rules_.may_miss && std::isnan(value))) return nullptr;
    return next;
  }

  [[noreturn]] void fail_field(const char* p, const char* end, int64_t column) const {
    constexpr size_t kShown = 40;
    std::string_view text(p, static_cast<size_t>(end - p));
    text = text.substr(0, text.find_first_of(",\r"));
    fail_here("column {}: expected {}, got \"{}{}\"", column + 1, kNumber<T>,
              text.substr(0, kShown), text.size() > kShown ? "..." : "");
  }

  // Once, to the final size, where the number of rows is known: growing would hold two copies. No
  // more than the file can possibly unpack to, whatever is claimed (deflate packs 1032 to 1 at
  // most, a number and its separator are two bytes).
  void reserve() {
    if (rules_.rows < 0 || columns_ <= 0) return;
    std::error_code error;
    const auto bytes = static_cast<double>(std::filesystem::file_size(path_, error));
    const double possible = error ? 0 : bytes * 1032 / 2 + 1;
    const double wanted = static_cast<double>(rules_.rows) * static_cast<double>(columns_);
    values_.reserve(static_cast<size_t>(std::min(wanted, possible)));
  }

  const std::filesystem::path& path_;
  TableRules rules_;
  int64_t columns_;
  int64_t line_ = 0;
  int64_t blanks_ = 0;  // blank lines since the last row
  int64_t first_blank_ = 0;
  int64_t rows_ = 0;
  std::vector<T> values_;
};

}  // namespace

template <class T>
Matrix<T> read_number_table(const std::filesystem::path& path, const TableRules& rules) {
  return Parser<T>(path, rules).run();
}

template Matrix<int32_t> read_number_table(const std::filesystem::path&, const TableRules&);
template Matrix<int64_t> read_number_table(const std::filesystem::path&, const TableRules&);
template Matrix<float> read_number_table(const std::filesystem::path&, const TableRules&);

}  // namespace egc::data
