// Columns of a table as features: what was learned of them from one table serves for the next.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "egc/data/csv_table.h"
#include "egc/data/dataset.h"

namespace egc::data {

enum class TextFeatures {
  kOneHot,  // a 0/1 column for each value; fits beside numbers
  kEmbed    // a category each; needs all features to be text
};
const NamedTable<TextFeatures>& text_feature_kinds();

// Which values a text column has, which mean a number column.
std::vector<FeatureColumn> learn_columns(const CsvTable& table,
                                         const std::vector<std::string>& names, TextFeatures text);

// What was not as learned, for the person.
struct ColumnGaps {
  int64_t missing = 0;  // values; numbers count as the mean, texts as no value
  int64_t unknown = 0;  // texts that were not there when the columns were learned: no value either
};

// The features of the rows in the given order; throws kData where a column is not there, or has
// text for numbers. Categories get one more than the values, for no value.
struct MadeFeatures {
  Features features;
  std::vector<int64_t> categories;  // of each column, where they are categorical
  std::vector<ColumnGaps> gaps;     // of each column
};
MadeFeatures make_features(const CsvTable& table, std::span<const FeatureColumn> columns,
                           TextFeatures text, std::span<const int64_t> rows);

}  // namespace egc::data
