// SMILES of a file or of stdin, one after the other: a table with column names, or one a line, a
// name behind it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/formats/text_table.h"

namespace egc::molecules {

struct SmilesRow {
  int64_t number = 0;  // of the molecule, from 0
  int64_t line = 0;    // of the file, from 1
  std::string smiles;
  std::string name;  // behind the SMILES of a line; may be empty
  std::vector<float> labels;
  std::vector<std::string> other;  // fields of the other_columns
};

class SmilesRows {
 public:
  // path: a file, or - for stdin. column: of the SMILES; empty: the one called smiles, in any case.
  // labels: columns of numbers. It is a table where its name says so, or a first line with a column
  // called smiles.
  SmilesRows(const std::filesystem::path& path, const std::string& column,
             const std::vector<std::string>& labels);
  bool next(SmilesRow& row);

  // The column of the SMILES, and all others but labels; of a table.
  const std::string& smiles_column() const { return smiles_column_; }
  const std::vector<std::string>& other_columns() const { return other_columns_; }
  bool is_table() const { return table_.has_value(); }

 private:
  bool next_of_table(SmilesRow& row);
  bool next_line(SmilesRow& row);

  void open_table(data::TextTable table, const std::string& column,
                  const std::vector<std::string>& labels);

  std::optional<data::TextTable> table_;
  std::unique_ptr<data::TextLinesReader> lines_;
  std::optional<std::string> first_line_;  // read to see whether it is a table
  int64_t next_number_ = 0;
  size_t smiles_ = 0;
  std::string smiles_column_;
  std::vector<size_t> labels_;
  std::vector<size_t> other_;
  std::vector<std::string> other_columns_;
  std::vector<std::string> fields_;
};

}  // namespace egc::molecules
