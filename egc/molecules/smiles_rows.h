// SMILES of a file, one after the other: a table with column names, or one a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/text_table.h"

namespace egc::molecules {

struct SmilesRow {
  int64_t line = 0;
  std::string smiles;
  std::vector<float> labels;
};

class SmilesRows {
 public:
  // column: of the SMILES; empty: the one called smiles, in any case. labels: columns of numbers.
  SmilesRows(const std::filesystem::path& path, const std::string& column,
             const std::vector<std::string>& labels);
  bool next(SmilesRow& row);

 private:
  bool next_of_table(SmilesRow& row);
  bool next_line(SmilesRow& row);

  std::optional<data::TextTable> table_;
  std::optional<data::TextLinesReader> lines_;
  size_t smiles_ = 0;
  std::vector<size_t> labels_;
  std::vector<std::string> fields_;
};

}  // namespace egc::molecules
