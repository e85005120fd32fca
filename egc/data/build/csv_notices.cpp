#include "egc/data/build/csv_notices.h"

#include "egc/core/error.h"

namespace egc::data {
namespace {

std::string odd_cells(const CsvTable& table, const std::string& column,
                      const std::vector<int64_t>& odd_rows, const std::string& what) {
  return fmt::format("{} \"{}\": {} of {} values are not numbers and are treated as missing: {}",
                     what, column, odd_rows.size(), table.rows(),
                     spell_cells(table, column, odd_rows));
}

}  // namespace

void note_columns(const CsvTable& table, const std::vector<ColumnPlan>& plan,
                  const std::string& what, std::vector<std::string>& notices) {
  for (const ColumnPlan& column : plan) {
    if (column.kind == ColumnKind::kIgnore && column.reason != "asked for")
      notices.push_back(fmt::format(
          "ignoring {0} \"{1}\": {2}{3}", what, column.name, column.reason,
          column.missing == table.rows()
              ? ""
              : fmt::format("; to use it, give --column {0}=number or {0}=category", column.name)));
    if (column.kind == ColumnKind::kNumber && column.is_narrow)
      notices.push_back(
          fmt::format("{} \"{}\": its values differ by less than 0.01% of their size, which "
                      "32-bit features barely resolve; subtract a constant from them",
                      what, column.name));
    if (column.kind == ColumnKind::kNumber && !column.odd_rows.empty())
      notices.push_back(odd_cells(table, column.name, column.odd_rows, what));
  }
}

void note_gaps(const CsvTable& table, const std::vector<FeatureColumn>& columns,
               const std::vector<ColumnGaps>& gaps, const std::string& what,
               std::vector<std::string>& notices) {
  for (size_t k = 0; k < gaps.size(); ++k)
    if (!gaps[k].odd_rows.empty())
      notices.push_back(odd_cells(table, columns[k].name, gaps[k].odd_rows, what));
}

}  // namespace egc::data
