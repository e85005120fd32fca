// Datasets of molecules from tables of SMILES and labels.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "egc/core/progress.h"
#include "egc/data/dataset.h"
#include "egc/molecules/molecule.h"

namespace egc::molecules {

// How molecules are split: by scaffold, as OGB does, or at random.
enum class MoleculeSplit { kScaffold, kRandom };
// Names: scaffold, random.
inline const NamedTable<MoleculeSplit>& molecule_splits() {
  static const NamedTable<MoleculeSplit> table(
      "split", {{"scaffold", MoleculeSplit::kScaffold}, {"random", MoleculeSplit::kRandom}});
  return table;
}

// Options of build_molecules().
struct MoleculeOptions {
  // A table with a header (csv, tsv, plain or gzip), or lines of SMILES.
  std::filesystem::path smiles;
  std::string smiles_column;        // empty: "smiles", in any case
  std::vector<std::string> labels;  // columns; values may be missing
  bool zinc_target = false;         // compute ZINC's target instead of reading labels
  std::optional<Task> task;         // empty: binary if all labels are 0 or 1, otherwise regression
  Recipe recipe = Recipe::kOgb;     // how features are made
  bool skip_bad = false;            // skip invalid lines instead of failing
  MoleculeSplit split = MoleculeSplit::kScaffold;     // how molecules are split
  std::array<double, 3> fractions = {0.8, 0.1, 0.1};  // of training, validation and test set
  uint64_t seed = 0;                                  // of a random split
  std::string name;                                   // of the dataset
  OnProgress on_progress = {};                        // molecules made
};

// A line that is not a valid molecule.
struct BadSmiles {
  int64_t line = 0;    // of the file, from 1
  std::string smiles;  // as in the file
  std::string reason;  // why it is invalid
};

// Builds a dataset. Lists invalid lines in `bad`; throws kData with the first of them unless
// skip_bad.
data::Dataset build_molecules(const MoleculeOptions& options, std::vector<BadSmiles>& bad);

// A split in which molecules of one scaffold stay together. The largest groups fill the training
// set, then validation and test set, as OGB does.
data::Split scaffold_split(const std::vector<std::string>& scaffolds,
                           std::array<double, 3> fractions);

}  // namespace egc::molecules
