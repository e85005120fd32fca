#include "egc/data/build/csv_features.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "egc/core/error.h"
#include "egc/data/formats/text_table.h"

namespace egc::data {
namespace {

constexpr size_t kMaxOneHot = 1000;
constexpr int32_t kNoValue = -1;

// The number of a text among the column's values.
int32_t category_of(const FeatureColumn& column, const std::string& value, ColumnGaps& gaps) {
  if (is_missing(value)) {
    ++gaps.missing;
    return kNoValue;
  }
  const auto it = std::lower_bound(column.values.begin(), column.values.end(), value);
  if (it != column.values.end() && *it == value)
    return static_cast<int32_t>(it - column.values.begin());
  ++gaps.unknown;
  return kNoValue;
}

// The cells of a column by what they are.
struct Cells {
  std::vector<double> numbers;    // NaN where present is none
  std::vector<int64_t> odd_rows;  // neither numbers nor missing
  int64_t missing = 0;

  int64_t present() const { return std::ssize(numbers) - missing; }
  // One odd cell in twenty, or one in ten or more, is a slip; more are texts.
  bool are_numbers() const {
    const int64_t odd = std::ssize(odd_rows);
    return present() > odd && (odd == 0 || odd * 20 <= present() || (odd == 1 && present() >= 10));
  }
};

Cells look_at(const std::vector<std::string>& texts) {
  Cells out;
  out.numbers.resize(texts.size());
  for (size_t k = 0; k < texts.size(); ++k) {
    const bool number = parse_field(texts[k], out.numbers[k]);
    if (!number) {
      out.numbers[k] = std::nan("");
      out.odd_rows.push_back(static_cast<int64_t>(k));
    } else if (std::isnan(out.numbers[k])) {
      ++out.missing;
    }
  }
  return out;
}

double mean_of(const std::vector<double>& numbers) {
  double sum = 0;
  int64_t present = 0;
  for (const double v : numbers) {
    if (std::isnan(v)) continue;
    sum += v;
    ++present;
  }
  return sum / static_cast<double>(present);
}

bool are_same(const std::vector<double>& numbers) {
  double first = std::nan("");
  for (const double v : numbers) {
    if (std::isnan(v)) continue;
    if (!std::isnan(first) && v != first) return false;
    first = v;
  }
  return true;
}

// Less than a ten-thousandth of the size of the values lies between them.
bool are_narrow(const std::vector<double>& numbers) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double v : numbers) {
    if (std::isnan(v)) continue;
    least = std::min(least, v);
    most = std::max(most, v);
  }
  return most > least && most - least < 1e-4 * std::max(std::abs(least), std::abs(most));
}

// Why a column would say nothing of rows that are not in the table; empty where it may.
std::string reason_to_ignore(const ColumnPlan& column, const Cells& cells, TextFeatures text) {
  const int64_t present = cells.present();
  if (present == 0) return "it has no values";
  if (column.kind == ColumnKind::kNumber)
    return are_same(cells.numbers) ? "all its values are the same" : "";
  if (column.categories == 1 && cells.missing == 0) return "all its values are the same";
  if (cells.odd_rows.empty()) return "";  // whole numbers may be categories
  if (present >= 3 && column.categories == present) return "all its values are distinct texts";
  if (present >= 20 && column.categories * 10 > present * 9)
    return "nearly all its values are distinct texts";
  if (text == TextFeatures::kOneHot && column.categories > static_cast<int64_t>(kMaxOneHot))
    return fmt::format("it has {} distinct texts, too many to one-hot encode", column.categories);
  return "";
}

void add_numbers(const CsvTable& table, const FeatureColumn& column, std::span<const int64_t> rows,
                 std::vector<std::vector<float>>& to, ColumnGaps& gaps) {
  const auto& texts = table.at(column.name);
  const Cells cells = look_at(texts);
  // Odd cells are slips, be present few rows or many; a column of nothing else is another one.
  if (std::ssize(cells.odd_rows) >= 2 && std::ssize(cells.odd_rows) == cells.present())
    fail(ErrorKind::kData, "{}: column \"{}\": expected a number, got \"{}\"",
         table.where(cells.odd_rows[0]), column.name, texts[cells.odd_rows[0]].substr(0, 40));
  gaps.missing += cells.missing + std::ssize(cells.odd_rows);
  gaps.odd_rows = cells.odd_rows;
  auto& values = to.emplace_back();
  for (const int64_t row : rows) {
    const double v = cells.numbers[row];
    values.push_back(static_cast<float>(std::isnan(v) ? column.mean : v));
  }
}

void add_one_hot(const CsvTable& table, const FeatureColumn& column, std::span<const int64_t> rows,
                 std::vector<std::vector<float>>& to, ColumnGaps& gaps) {
  const auto& texts = table.at(column.name);
  const size_t first = to.size();
  to.resize(first + column.values.size(), std::vector<float>(rows.size(), 0));
  for (size_t k = 0; k < rows.size(); ++k) {
    const int32_t value = category_of(column, texts[rows[k]], gaps);
    if (value != kNoValue) to[first + static_cast<size_t>(value)][k] = 1;
  }
}

MadeFeatures make_floats(const CsvTable& table, std::span<const FeatureColumn> columns,
                         std::span<const int64_t> rows) {
  MadeFeatures out;
  std::vector<std::vector<float>> made;
  for (const FeatureColumn& column : columns) {
    ColumnGaps& gaps = out.gaps.emplace_back();
    (column.is_text ? add_one_hot : add_numbers)(table, column, rows, made, gaps);
  }
  if (made.empty()) return out;
  std::vector<float> values;
  values.reserve(rows.size() * made.size());
  for (size_t k = 0; k < rows.size(); ++k)
    for (const auto& column : made) values.push_back(column[k]);
  out.features.floats = {std::move(values), static_cast<int64_t>(made.size())};
  return out;
}

MadeFeatures make_categories(const CsvTable& table, std::span<const FeatureColumn> columns,
                             std::span<const int64_t> rows) {
  MadeFeatures out;
  std::vector<int32_t> values(rows.size() * columns.size());
  for (size_t j = 0; j < columns.size(); ++j) {
    ColumnGaps& gaps = out.gaps.emplace_back();
    const auto& texts = table.at(columns[j].name);
    const auto last = static_cast<int32_t>(columns[j].values.size());
    for (size_t k = 0; k < rows.size(); ++k) {
      const int32_t value = category_of(columns[j], texts[rows[k]], gaps);
      values[k * columns.size() + j] = value == kNoValue ? last : value;
    }
    out.categories.push_back(int64_t{last} + 1);
  }
  out.features.categories = {std::move(values), static_cast<int64_t>(columns.size())};
  return out;
}

}  // namespace

const NamedTable<TextFeatures>& text_feature_kinds() {
  static const NamedTable<TextFeatures> table(
      "text encoding", {{"onehot", TextFeatures::kOneHot}, {"embed", TextFeatures::kEmbed}});
  return table;
}

const NamedTable<ColumnKind>& column_kinds() {
  static const NamedTable<ColumnKind> table("column kind", {{"number", ColumnKind::kNumber},
                                                            {"category", ColumnKind::kCategory},
                                                            {"ignore", ColumnKind::kIgnore}});
  return table;
}

std::vector<ColumnPlan> plan_columns(const CsvTable& table, const std::vector<std::string>& names,
                                     const std::map<std::string, ColumnKind>& given,
                                     TextFeatures text) {
  std::vector<ColumnPlan> out;
  for (const std::string& name : names) {
    ColumnPlan& column = out.emplace_back();
    column.name = name;
    const Cells cells = look_at(table.at(name));
    column.missing = cells.missing;
    const auto chosen = given.find(name);
    const bool number = chosen != given.end()
                            ? chosen->second == ColumnKind::kNumber
                            : cells.are_numbers() && text == TextFeatures::kOneHot;
    column.kind = number ? ColumnKind::kNumber : ColumnKind::kCategory;
    if (number) {
      column.odd_rows = cells.odd_rows;
      column.is_narrow = are_narrow(cells.numbers);
    } else {
      column.categories = std::ssize(distinct(table.at(name)));
    }
    column.reason = chosen == given.end()                   ? reason_to_ignore(column, cells, text)
                    : chosen->second == ColumnKind::kIgnore ? "asked for"
                                                            : "";
    if (!column.reason.empty()) column.kind = ColumnKind::kIgnore;
  }
  return out;
}

std::vector<FeatureColumn> learn_columns(const CsvTable& table, const std::vector<ColumnPlan>& plan,
                                         TextFeatures text) {
  std::vector<FeatureColumn> out;
  for (const ColumnPlan& planned : plan) {
    if (planned.kind == ColumnKind::kIgnore) continue;
    const std::string& name = planned.name;
    FeatureColumn& column = out.emplace_back();
    column.name = name;
    if (planned.kind == ColumnKind::kNumber) {
      const Cells cells = look_at(table.at(name));
      check(text == TextFeatures::kOneHot,
            "{}: column \"{}\" cannot be a number with --text embed; use --text onehot", table.path,
            name);
      check_data(cells.present() > std::ssize(cells.odd_rows), "{}: column \"{}\" has no numbers",
                 table.path, name);
      column.mean = mean_of(cells.numbers);
      continue;
    }
    if (const auto numbers = as_numbers(table.at(name)); numbers && text == TextFeatures::kEmbed)
      for (const double v : *numbers)
        check(std::isnan(v) || v == std::floor(v),
              "{}: column \"{}\" has fractional numbers, which cannot be embedded; use --text "
              "onehot, or --ignore the column",
              table.path, name);
    column.is_text = true;
    column.values = distinct(table.at(name));
    check_data(!column.values.empty(), "{}: column \"{}\" has no values", table.path, name);
    check_data(text == TextFeatures::kEmbed || column.values.size() <= kMaxOneHot,
               "{}: column \"{}\" has {} distinct texts, too many to one-hot encode; use --text "
               "embed or --ignore the column",
               table.path, name, column.values.size());
  }
  return out;
}

std::string spell_cells(const CsvTable& table, const std::string& column,
                        std::span<const int64_t> rows) {
  constexpr size_t kMax = 5;
  const auto& texts = table.at(column);
  std::string out;
  for (const int64_t row : rows.first(std::min(kMax, rows.size())))
    out += fmt::format("{}line {} \"{}\"", out.empty() ? "" : ", ", table.lines[row],
                       texts[row].substr(0, 40));
  if (rows.size() > kMax) out += fmt::format(" and {} more", rows.size() - kMax);
  return out;
}

MadeFeatures make_features(const CsvTable& table, std::span<const FeatureColumn> columns,
                           TextFeatures text, std::span<const int64_t> rows) {
  for (const FeatureColumn& column : columns)
    check_data(table.has(column.name), "{}: column \"{}\" not found; its columns: {}", table.path,
               column.name, fmt::join(table.names, ", "));
  return text == TextFeatures::kOneHot ? make_floats(table, columns, rows)
                                       : make_categories(table, columns, rows);
}

}  // namespace egc::data
