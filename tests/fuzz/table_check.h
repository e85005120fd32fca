// Reads one table in the way the first digits of the input choose: type, rows and columns expected.
#pragma once

#include <cmath>
#include <type_traits>

#include "egc/data/formats/number_table.h"
#include "egc/data/formats/text_table.h"
#include "tests/fuzz/fuzz_input.h"

namespace egc::fuzz {

struct TableChoice {
  size_t type;  // int32, int64, float, float that may miss, text with a header
  data::TableRules rules;

  explicit TableChoice(Input& input) : type(input.choose(5)) {
    constexpr int64_t kRows[] = {-1, 0, 1, 2, 3, 5, 8, int64_t{1} << 40, INT64_MAX};
    constexpr int64_t kColumns[] = {-1, 1, 2, 3, 1000};
    rules.rows = kRows[input.choose(std::size(kRows))];
    rules.columns = kColumns[input.choose(std::size(kColumns))];
    rules.may_miss = type == 3;
  }
};

template <class T>
void check_number_table(const std::filesystem::path& path, const data::TableRules& rules) {
  const auto table = data::read_number_table<T>(path, rules);
  expect(table.columns >= 0 && table.rows() * table.columns == table.values.size(),
         "{} values in {} columns", table.values.size(), table.columns);
  expect(rules.rows < 0 || table.rows() == rules.rows, "{} rows", table.rows());
  expect(rules.columns < 0 || table.columns == rules.columns, "{} columns", table.columns);
  if constexpr (std::is_floating_point_v<T>)
    for (const T value : table.values)
      expect(std::isfinite(value) || (rules.may_miss && std::isnan(value)), "the value {}", value);
}

inline void check_text_table(const std::filesystem::path& path) {
  data::TextTable table(path);
  for (const std::string& name : table.columns())
    expect(table.columns()[table.column(name)] == name, "{}", name);
  std::vector<std::string> fields;
  while (table.next(fields)) {
    expect(fields.size() == table.columns().size(), "{} fields", fields.size());
    for (const std::string& field : fields) {
      double value = 0;
      if (data::parse_field(field, value))
        expect(std::isfinite(value) || std::isnan(value), "\"{}\" is {}", field, value);
    }
  }
}

inline void check_table(const std::filesystem::path& path, const TableChoice& choice) {
  throws_only({ErrorKind::kData}, [&] {
    if (choice.type == 0)
      check_number_table<int32_t>(path, choice.rules);
    else if (choice.type == 1)
      check_number_table<int64_t>(path, choice.rules);
    else if (choice.type <= 3)
      check_number_table<float>(path, choice.rules);
    else
      check_text_table(path);
  });
}

}  // namespace egc::fuzz
