#include "egc/data/csv_features.h"

#include <algorithm>
#include <cmath>

#include "egc/core/error.h"
#include "egc/data/text_table.h"

namespace egc::data {
namespace {

constexpr size_t kMostOneHot = 1000;
constexpr int32_t kNoValue = -1;

// The number of a text among the column's values.
int32_t place(const FeatureColumn& column, const std::string& value, ColumnGaps& gaps) {
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

double mean_of(const std::vector<double>& numbers) {
  double sum = 0;
  int64_t there = 0;
  for (const double v : numbers) {
    if (std::isnan(v)) continue;
    sum += v;
    ++there;
  }
  return sum / static_cast<double>(there);
}

void add_numbers(const CsvTable& table, const FeatureColumn& column, std::span<const int64_t> rows,
                 std::vector<std::vector<float>>& to, ColumnGaps& gaps) {
  const auto& texts = table.at(column.name);
  auto& values = to.emplace_back();
  for (const int64_t row : rows) {
    double v = 0;
    check_data(parse_field(texts[row], v), "{}: column \"{}\": expected a number, got \"{}\"",
               table.where(row), column.name, texts[row].substr(0, 40));
    gaps.missing += std::isnan(v) ? 1 : 0;
    values.push_back(static_cast<float>(std::isnan(v) ? column.mean : v));
  }
}

void add_one_hot(const CsvTable& table, const FeatureColumn& column, std::span<const int64_t> rows,
                 std::vector<std::vector<float>>& to, ColumnGaps& gaps) {
  const auto& texts = table.at(column.name);
  const size_t first = to.size();
  to.resize(first + column.values.size(), std::vector<float>(rows.size(), 0));
  for (size_t k = 0; k < rows.size(); ++k) {
    const int32_t value = place(column, texts[rows[k]], gaps);
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
      const int32_t value = place(columns[j], texts[rows[k]], gaps);
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
      "way of text features", {{"onehot", TextFeatures::kOneHot}, {"embed", TextFeatures::kEmbed}});
  return table;
}

std::vector<FeatureColumn> learn_columns(const CsvTable& table,
                                         const std::vector<std::string>& names, TextFeatures text) {
  std::vector<FeatureColumn> out;
  for (const std::string& name : names) {
    FeatureColumn& column = out.emplace_back();
    column.name = name;
    const auto numbers = as_numbers(table.at(name));
    if (numbers && text == TextFeatures::kOneHot) {
      column.mean = mean_of(*numbers);
      continue;
    }
    if (numbers)
      for (const double v : *numbers)
        check(std::isnan(v) || v == std::floor(v),
              "{}: column \"{}\" has numbers that are not whole, which cannot be embedded; use "
              "one-hot, or ignore it",
              table.path, name);
    column.is_text = true;
    column.values = distinct(table.at(name));
    check_data(text == TextFeatures::kEmbed || column.values.size() <= kMostOneHot,
               "{}: column \"{}\" has {} different texts, too many for 0/1 columns; embed text "
               "features, or ignore the column",
               table.path, name, column.values.size());
  }
  return out;
}

MadeFeatures make_features(const CsvTable& table, std::span<const FeatureColumn> columns,
                           TextFeatures text, std::span<const int64_t> rows) {
  for (const FeatureColumn& column : columns)
    check_data(table.has(column.name), "{}: expected a column \"{}\", found {}", table.path,
               column.name, fmt::join(table.names, ", "));
  return text == TextFeatures::kOneHot ? make_floats(table, columns, rows)
                                       : make_categories(table, columns, rows);
}

}  // namespace egc::data
