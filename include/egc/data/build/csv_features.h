// Columns of a table as features: what is made of each is planned from one table, learned, and
// serves for the next.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/formats/csv_table.h"

namespace egc::data {

enum class TextFeatures {
  kOneHot,  // a 0/1 column for each value; fits beside numbers
  kEmbed    // a category each; needs all features to be text
};
const NamedTable<TextFeatures>& text_feature_kinds();

enum class ColumnKind { kNumber, kCategory, kIgnore };
const NamedTable<ColumnKind>& column_kinds();

// What becomes of a column.
struct ColumnPlan {
  std::string name;
  ColumnKind kind = ColumnKind::kNumber;
  int64_t missing = 0;            // values that are not there
  int64_t categories = 0;         // different values of a category
  std::vector<int64_t> odd_rows;  // of a number column: texts, which count as missing
  bool is_narrow = false;         // numbers that differ by little of their size
  std::string reason;             // why a column is ignored
};

// `given`: kinds that the person has chosen. Columns of numbers may have a few odd cells; constant
// columns, and texts that are all different, say nothing and are ignored.
std::vector<ColumnPlan> plan_columns(const CsvTable& table, const std::vector<std::string>& names,
                                     const std::map<std::string, ColumnKind>& given,
                                     TextFeatures text);

// The features that the plan has: means of numbers, values of categories.
std::vector<FeatureColumn> learn_columns(const CsvTable& table, const std::vector<ColumnPlan>& plan,
                                         TextFeatures text);

// What was not as learned, for the person.
struct ColumnGaps {
  int64_t missing = 0;  // values; numbers count as the mean, texts as no value
  int64_t unknown = 0;  // texts that were not there when the columns were learned: no value either
  std::vector<int64_t> odd_rows;  // texts where numbers were learned; they count as missing
};

// The features of the rows in the given order; throws kData where a column is not there, or is text
// where numbers were learned. Categories get one more than the values, for no value.
struct MadeFeatures {
  Features features;
  std::vector<int64_t> categories;  // of each column, where they are categorical
  std::vector<ColumnGaps> gaps;     // of each column
};
MadeFeatures make_features(const CsvTable& table, std::span<const FeatureColumn> columns,
                           TextFeatures text, std::span<const int64_t> rows);

// "line 17 \"abc\", line 20 \"-x\" and 3 more"
std::string spell_cells(const CsvTable& table, const std::string& column,
                        std::span<const int64_t> rows);

}  // namespace egc::data
