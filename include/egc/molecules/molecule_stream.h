// Molecules of a file as datasets of some at a time, without labels: what prediction reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/molecules/build_molecules.h"
#include "egc/molecules/smiles_rows.h"

namespace egc::molecules {

class MoleculeStream {
 public:
  // info: of the dataset that a network was trained on; its recipe makes the features.
  MoleculeStream(const std::filesystem::path& path, const std::string& smiles_column,
                 const data::DatasetInfo& info);

  struct Chunk {
    data::Dataset dataset;
    std::vector<SmilesRow> rows;  // what each graph was made of
    std::vector<BadSmiles> bad;   // left out
  };
  const SmilesRows& input() const { return rows_; }

  // At most `count` lines; nothing at the end.
  std::optional<Chunk> next(int64_t count);

 private:
  SmilesRows rows_;
  data::DatasetInfo info_;
  Recipe recipe_;
};

}  // namespace egc::molecules
