// A column of a table that says which rows train, validate and test.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/formats/csv_table.h"

namespace egc::data {

// The one asked for, or "split" where all its values are parts of one; empty where there is none,
// or it is one of `others`. Throws kData with line and value where the one asked for has other
// values.
std::string find_split_column(const CsvTable& table, const std::string& asked_for,
                              const std::vector<std::string>& others,
                              std::vector<std::string>& notices);

// By items, whose rows are given.
Split split_of_column(const CsvTable& table, const std::string& column,
                      std::span<const int64_t> row_of_item);

}  // namespace egc::data
