// Columns of a table as features. Their kinds and values are learned from the training table and
// applied to later tables.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/formats/csv_table.h"

namespace egc::data {

// How text becomes features.
enum class TextFeatures {
  kOneHot,  // a 0/1 column per value; works beside numbers
  kEmbed    // a category each, for embeddings; all features must be text
};
const NamedTable<TextFeatures>& text_feature_kinds();  // names of TextFeatures

// What a column becomes: a number, a category, or nothing.
enum class ColumnKind { kNumber, kCategory, kIgnore };
const NamedTable<ColumnKind>& column_kinds();  // names of ColumnKind

// What a column becomes, and why.
struct ColumnPlan {
  std::string name;                       // header of the column
  ColumnKind kind = ColumnKind::kNumber;  // what it becomes
  int64_t missing = 0;                    // number of missing values
  int64_t categories = 0;                 // number of distinct values of a category
  std::vector<int64_t> odd_rows;  // of a number column: rows with text, which counts as missing
  bool is_narrow = false;         // numbers whose spread is small beside their size
  std::string reason;             // why the column is ignored
};

// Decides what columns become. given: kinds that the user sets. Number columns may have a few
// non-numeric cells; constant columns and texts that are all different are ignored.
std::vector<ColumnPlan> plan_columns(const CsvTable& table, const std::vector<std::string>& names,
                                     const std::map<std::string, ColumnKind>& given,
                                     TextFeatures text);

// Learns the planned features: means of numbers, values of categories.
std::vector<FeatureColumn> learn_columns(const CsvTable& table, const std::vector<ColumnPlan>& plan,
                                         TextFeatures text);

// Cells of a column that differ from what was learned.
struct ColumnGaps {
  int64_t missing = 0;            // missing values: numbers get the mean, texts no value
  int64_t unknown = 0;            // texts that were not in the training table: no value
  std::vector<int64_t> odd_rows;  // rows with text in a number column; counted as missing
};

// The result of make_features().
struct MadeFeatures {
  Features features;  // a row per requested row
  // Of each column, if categorical; one more than its values, for no value.
  std::vector<int64_t> categories;
  std::vector<ColumnGaps> gaps;  // of each column
};
// Makes the features of some rows. Throws kData where a column is missing, or is text where numbers
// were learned.
MadeFeatures make_features(const CsvTable& table, std::span<const FeatureColumn> columns,
                           TextFeatures text, std::span<const int64_t> rows);

// Cells of a column for messages: "line 17 \"abc\", line 20 \"-x\" and 3 more".
std::string spell_cells(const CsvTable& table, const std::string& column,
                        std::span<const int64_t> rows);

}  // namespace egc::data
