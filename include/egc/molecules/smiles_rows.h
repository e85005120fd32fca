// SMILES from a file or stdin, row by row: a table with column names, or lines of a SMILES and a
// name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/formats/text_table.h"

namespace egc::molecules {

// A row of the input.
struct SmilesRow {
  int64_t number = 0;              // of the molecule, from 0
  int64_t line = 0;                // of the file, from 1
  std::string smiles;              // as in the file
  std::string name;                // after the SMILES of a line; may be empty
  std::vector<float> labels;       // of the label columns
  std::vector<std::string> other;  // fields of other_columns()
};

// Reads the rows.
class SmilesRows {
 public:
  // path: a file, or - for stdin. column: of the SMILES; empty: "smiles", in any case. labels:
  // columns of numbers. The input is a table if its file name says so or its first line has a
  // column "smiles".
  SmilesRows(const std::filesystem::path& path, const std::string& column,
             const std::vector<std::string>& labels);
  bool next(SmilesRow& row);  // reads the next row; false at the end

  // Of a table: column of the SMILES.
  const std::string& smiles_column() const { return smiles_column_; }
  // Of a table: all columns but SMILES and labels.
  const std::vector<std::string>& other_columns() const { return other_columns_; }
  bool is_table() const { return table_.has_value(); }  // whether there are column names

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
