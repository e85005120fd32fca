// What a person should know of the columns of a table.
#pragma once

#include <string>
#include <vector>

#include "egc/data/build/csv_features.h"

namespace egc::data {

// Of columns that are learned from. what: "column" or "edge column".
void note_columns(const CsvTable& table, const std::vector<ColumnPlan>& plan,
                  const std::string& what, std::vector<std::string>& notices);
// Of columns that were learned from another table.
void note_gaps(const CsvTable& table, const std::vector<FeatureColumn>& columns,
               const std::vector<ColumnGaps>& gaps, const std::string& what,
               std::vector<std::string>& notices);

}  // namespace egc::data
