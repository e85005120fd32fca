// Synthetic accessibility (Ertl and Schuffenhauer, J. Cheminform. 1:8, 2009): how common the
// molecule's fragments are, minus penalties for size, stereo centres, spiro and bridgehead atoms
// and large rings. The table of fragments comes with RDKit's data as a gzip pickle of lists [score,
// fragment, fragment, ...].
#include <DataStructs/SparseIntVect.h>
#include <GraphMol/Descriptors/Lipinski.h>
#include <GraphMol/Fingerprints/MorganFingerprints.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/RingInfo.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <unordered_map>

#include "egc/core/error.h"
#include "egc/data/formats/pickle.h"
#include "egc/data/formats/text_blocks.h"
#include "egc/molecules/parse_smiles.h"

namespace egc::molecules {
namespace {

namespace fs = std::filesystem;
using Kind = data::PyValue::Kind;
using Scores = std::unordered_map<uint32_t, double>;

fs::path find_table() {
  const char* base = std::getenv("RDBASE");
  const fs::path places[] = {base == nullptr ? fs::path() : fs::path(base) / "Contrib",
                             "/usr/share/RDKit/Contrib", "/usr/local/share/RDKit/Contrib"};
  for (const fs::path& place : places)
    if (const fs::path path = place / "SA_Score" / "fpscores.pkl.gz"; fs::exists(path)) return path;
  fail(ErrorKind::kSystem,  // the machine's fault, not a molecule's
       "SA_Score/fpscores.pkl.gz: not found in RDKit's Contrib (RDBASE, /usr/share/RDKit); "
       "Debian's rdkit-data has it");
}

Scores read_table(const fs::path& path) {
  constexpr size_t kMaxBytes = 256 << 20;
  const std::string bytes = data::read_text(path, kMaxBytes);
  const data::Pickle pickle(bytes, path.string(), ErrorKind::kData);
  Scores out;
  check_data(pickle.root().is(Kind::kList), "{}: expected a list of lists", path.string());
  for (const data::PyValue* row : pickle.root().items) {
    check_data(row->is(Kind::kList) && !row->items.empty() && row->items[0]->is(Kind::kFloat),
               "{}: expected lists of a score and fragments", path.string());
    for (size_t k = 1; k < row->items.size(); ++k)
      out[static_cast<uint32_t>(row->items[k]->number)] = row->items[0]->real;
  }
  return out;
}

double fragment_score(const RDKit::SparseIntVect<uint32_t>& fingerprint) {
  static const Scores scores = read_table(find_table());
  constexpr double kUnknown = -4;
  double sum = 0;
  int count = 0;
  for (const auto& [fragment, times] : fingerprint.getNonzeroElements()) {
    const auto it = scores.find(fragment);
    sum += (it == scores.end() ? kUnknown : it->second) * times;
    count += times;
  }
  return count == 0 ? 0 : sum / count;
}

// Atoms that are stereo centres, marked in the SMILES or not.
int stereo_centres(const RDKit::ROMol& molecule) {
  RDKit::ROMol copy(molecule);
  RDKit::MolOps::assignStereochemistry(copy, /*cleanIt=*/false, /*force=*/true,
                                       /*flagPossibleStereoCenters=*/true);
  int count = 0;
  for (const RDKit::Atom* atom : copy.atoms())
    count += atom->hasProp(RDKit::common_properties::_CIPCode) ||
                     atom->hasProp(RDKit::common_properties::_ChiralityPossible)
                 ? 1
                 : 0;
  return count;
}

double complexity(const RDKit::ROMol& molecule) {
  const double atoms = molecule.getNumAtoms();
  bool macrocycle = false;
  for (const auto& ring : molecule.getRingInfo()->atomRings()) macrocycle |= ring.size() > 8;
  return std::pow(atoms, 1.005) - atoms + std::log10(stereo_centres(molecule) + 1) +
         std::log10(RDKit::Descriptors::calcNumSpiroAtoms(molecule) + 1) +
         std::log10(RDKit::Descriptors::calcNumBridgeheadAtoms(molecule) + 1) +
         (macrocycle ? std::log10(2) : 0);
}

}  // namespace

double sa_score(const RDKit::ROMol& molecule) {
  const std::unique_ptr<RDKit::SparseIntVect<uint32_t>> fingerprint(
      RDKit::MorganFingerprints::getFingerprint(molecule, /*radius=*/2));
  const auto different = static_cast<double>(fingerprint->getNonzeroElements().size());
  const double atoms = molecule.getNumAtoms();
  const double symmetry = atoms > different ? 0.5 * std::log(atoms / different) : 0;
  const double raw = fragment_score(*fingerprint) - complexity(molecule) + symmetry;
  constexpr double kMin = -4;
  constexpr double kMax = 2.5;
  double score = 11 - (raw - kMin + 1) / (kMax - kMin) * 9;
  if (score > 8) score = 8 + std::log(score + 1 - 9);  // smooths the difficult end
  return std::clamp(score, 1.0, 10.0);
}

}  // namespace egc::molecules
