// Tables of numbers as text: comma separated, no header, every line the same number of columns.
// Errors name file and line.
#pragma once

#include <cstdint>
#include <filesystem>

#include "egc/data/array.h"

namespace egc::data {

struct TableRules {
  int64_t rows = -1;     // expected; -1: as many as there are
  int64_t columns = -1;  // expected; -1: as many as the first line has
  // Floats: an empty field or "nan" is NaN. Otherwise every number must be there and finite.
  bool may_miss = false;
  const char* rows_are = "lines";  // what disagrees when the number of lines is wrong
};

// T: int32_t, int64_t, float. Whole numbers may be written as "3.0".
template <class T>
Matrix<T> read_number_table(const std::filesystem::path& path, const TableRules& rules = {});

// One number a line.
template <class T>
Array<T> read_number_column(const std::filesystem::path& path, TableRules rules = {}) {
  rules.columns = 1;
  return read_number_table<T>(path, rules).values;
}

}  // namespace egc::data
