// The paper's tables, which come with the program: tables/<name>.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egc/reproduce/paper_table.h"

namespace egc::app {

// Sorted.
std::vector<std::string> table_names();

// Throws kUsage where there is none of that name.
reproduce::Table read_table(const std::string& name);

// What the paper prints, for benchmarks that show it beside theirs. Nothing where the paper has no
// such figure, or where the program was moved away from its tables.
class PaperFigures {
 public:
  explicit PaperFigures(const std::string& table);

  // As the table prints it: in its own unit.
  std::optional<double> of(const std::string& dataset, const std::string& row,
                           const std::string& figure) const;

 private:
  std::optional<reproduce::Table> table_;
};

}  // namespace egc::app
