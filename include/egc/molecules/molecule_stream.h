// Molecules of a file in chunks, without labels: input of predictions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/molecules/build_molecules.h"
#include "egc/molecules/smiles_rows.h"

namespace egc::molecules {

// Reads molecules and makes the features that a network was trained on.
class MoleculeStream {
 public:
  // info: description of the network's training data, whose recipe makes the features.
  // smiles_column: as in MoleculeOptions.
  MoleculeStream(const std::filesystem::path& path, const std::string& smiles_column,
                 const data::DatasetInfo& info);

  // Some molecules.
  struct Chunk {
    data::Dataset dataset;        // a graph per valid molecule
    std::vector<SmilesRow> rows;  // input row of each graph
    std::vector<BadSmiles> bad;   // invalid lines, left out
  };
  const SmilesRows& input() const { return rows_; }  // the file

  // Reads at most `count` lines; nothing at the end.
  std::optional<Chunk> next(int64_t count);

 private:
  SmilesRows rows_;
  data::DatasetInfo info_;
  Recipe recipe_;
};

}  // namespace egc::molecules
