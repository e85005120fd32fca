// A table of SMILES and labels as a dataset.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/molecules/molecule.h"

namespace egc::molecules {

enum class MoleculeSplit { kScaffold, kRandom };
inline const NamedTable<MoleculeSplit>& molecule_splits() {
  static const NamedTable<MoleculeSplit> table(
      "split", {{"scaffold", MoleculeSplit::kScaffold}, {"random", MoleculeSplit::kRandom}});
  return table;
}

struct MoleculeOptions {
  // A table with a header (csv, tsv, gzip or not), or plain lines of SMILES.
  std::filesystem::path smiles;
  std::string smiles_column;        // empty: the one called smiles, in any case
  std::vector<std::string> labels;  // columns; missing values are allowed in them
  bool zinc_target = false;         // computed instead of labels
  std::optional<Task> task;         // empty: binary where all labels are 0 or 1, else regression
  Recipe recipe = Recipe::kOgb;
  bool skip_bad = false;  // bad lines are left out, otherwise they are an error
  MoleculeSplit split = MoleculeSplit::kScaffold;
  std::array<double, 3> fractions = {0.8, 0.1, 0.1};
  uint64_t seed = 0;
  std::string name;
};

struct BadSmiles {
  int64_t line = 0;
  std::string smiles;
  std::string reason;
};

// Lists what could not be read in `bad`; throws kData with the first of them unless skip_bad.
data::Dataset build_molecules(const MoleculeOptions& options, std::vector<BadSmiles>& bad);

// Molecules with the same scaffold stay together; the largest groups fill train, then valid, then
// test, as OGB splits.
data::Split scaffold_split(const std::vector<std::string>& scaffolds,
                           std::array<double, 3> fractions);

}  // namespace egc::molecules
