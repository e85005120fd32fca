#include <GraphMol/ChemTransforms/ChemTransforms.h>
#include <GraphMol/Descriptors/Crippen.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>
#include <RDGeneral/RDLog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "egc/core/error.h"
#include "egc/molecules/molecule.h"
#include "egc/molecules/parse_smiles.h"

namespace egc::molecules {
namespace {

using RDKit::Atom;
using RDKit::Bond;
using RDKit::ROMol;
using RDKit::RWMol;

constexpr unsigned kMaxHydrogens = 12;  // of an atom
constexpr size_t kMaxAtoms = 500;       // RDKit takes the cube of their number
constexpr size_t kLongest = 4000;  // characters; the longest SMILES of public sets have about 1,000

// The place of a value among [first, last], or one past for "something else", as OGB counts.
int32_t place(int value, int first, int last) {
  return value < first || value > last ? last - first + 1 : value - first;
}

template <class Value, size_t kCount>
int32_t place(Value value, const std::array<Value, kCount>& known) {
  return static_cast<int32_t>(std::find(known.begin(), known.end(), value) - known.begin());
}

void add_ogb_atom(const Atom& atom, const ROMol& molecule, std::vector<int32_t>& to) {
  constexpr std::array kChirality = {Atom::CHI_UNSPECIFIED, Atom::CHI_TETRAHEDRAL_CW,
                                     Atom::CHI_TETRAHEDRAL_CCW, Atom::CHI_OTHER};
  constexpr std::array kHybridization = {Atom::SP, Atom::SP2, Atom::SP3, Atom::SP3D, Atom::SP3D2};
  to.insert(to.end(), {place(atom.getAtomicNum(), 1, 118), place(atom.getChiralTag(), kChirality),
                       place(static_cast<int>(atom.getTotalDegree()), 0, 10),
                       place(atom.getFormalCharge(), -5, 5),
                       place(static_cast<int>(atom.getTotalNumHs()), 0, 8),
                       place(static_cast<int>(atom.getNumRadicalElectrons()), 0, 4),
                       place(atom.getHybridization(), kHybridization), atom.getIsAromatic() ? 1 : 0,
                       molecule.getRingInfo()->numAtomRings(atom.getIdx()) > 0 ? 1 : 0});
}

void add_ogb_bond(const Bond& bond, std::vector<int32_t>& to) {
  constexpr std::array kTypes = {Bond::SINGLE, Bond::DOUBLE, Bond::TRIPLE, Bond::AROMATIC};
  constexpr std::array kStereo = {Bond::STEREONONE, Bond::STEREOZ,     Bond::STEREOE,
                                  Bond::STEREOCIS,  Bond::STEREOTRANS, Bond::STEREOANY};
  // Newer RDKits know more kinds of stereo; OGB's table has no place for them.
  to.insert(to.end(), {place(bond.getBondType(), kTypes),
                       std::min<int32_t>(place(bond.getStereo(), kStereo), kStereo.size() - 1),
                       bond.getIsConjugated() ? 1 : 0});
}

// ZINC's atoms: symbol, hydrogens written in the SMILES, sign of the charge. The hydrogen of an
// aromatic [nH] does not count.
int32_t zinc_atom(const Atom& atom) {
  static const std::unordered_map<std::string, int32_t> kinds = [] {
    constexpr const char* kNames[] = {
        "C",      "O",      "N",    "F",      "C H1", "S",      "Cl",     "O -",    "N H1 +", "Br",
        "N H3 +", "N H2 +", "N +",  "N -",    "S -",  "I",      "P",      "O H1 +", "N H1 -", "O +",
        "S +",    "P H1",   "P H2", "C H2 -", "P +",  "S H1 +", "C H1 -", "P H1 +"};
    std::unordered_map<std::string, int32_t> out;
    for (const char* name : kNames) out.emplace(name, static_cast<int32_t>(out.size()));
    return out;
  }();
  std::string name = atom.getSymbol();
  const unsigned hydrogens = atom.getNumExplicitHs();
  const bool pyrrole =
      atom.getIsAromatic() && atom.getAtomicNum() == 7 && atom.getFormalCharge() == 0;
  if (hydrogens > 0 && !pyrrole) name += fmt::format(" H{}", hydrogens);
  if (atom.getFormalCharge() != 0) name += atom.getFormalCharge() > 0 ? " +" : " -";
  const auto it = kinds.find(name);
  check_data(it != kinds.end(), "atom \"{}\" is not one of ZINC's 28 types", name);
  return it->second;
}

// The longest cycle of a basis, as networkx 2 finds it: a walk over a spanning tree that takes the
// latest node first and neighbours in rising order. Which basis comes out decides the published
// targets of molecules with fused rings.
int64_t longest_basis_cycle(const ROMol& molecule) {
  const auto n = static_cast<int>(molecule.getNumAtoms());
  std::vector<std::vector<int>> neighbours(static_cast<size_t>(n));
  for (const Bond* bond : molecule.bonds()) {
    neighbours[bond->getBeginAtomIdx()].push_back(static_cast<int>(bond->getEndAtomIdx()));
    neighbours[bond->getEndAtomIdx()].push_back(static_cast<int>(bond->getBeginAtomIdx()));
  }
  for (auto& list : neighbours) std::sort(list.begin(), list.end());
  std::vector<int> parent(static_cast<size_t>(n), -1);
  std::vector<std::vector<int>> used(static_cast<size_t>(n));
  const auto has = [](const std::vector<int>& list, int value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  int64_t longest = 0;
  for (int root = 0; root < n; ++root) {
    if (parent[root] >= 0) continue;
    parent[root] = root;
    std::vector<int> stack = {root};
    while (!stack.empty()) {
      const int z = stack.back();
      stack.pop_back();
      for (const int next : neighbours[z]) {
        if (parent[next] < 0) {
          parent[next] = z;
          stack.push_back(next);
          used[next] = {z};
        } else if (!has(used[z], next)) {
          int64_t length = 3;
          for (int p = parent[z]; !has(used[next], p); p = parent[p]) ++length;
          longest = std::max(longest, length);
          used[next].push_back(z);
        }
      }
    }
  }
  return longest;
}

// At least as many as RDKit will find: brackets, and letters outside of them.
size_t count_atoms(const std::string& smiles) {
  size_t count = 0;
  bool inside = false;
  for (const char c : smiles) {
    if (c == '[') ++count;
    if (c == '[' || c == ']') inside = c == '[';
    if (!inside) count += std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '*';
  }
  return count;
}

}  // namespace

bool have_rdkit() { return true; }

std::unique_ptr<RWMol> parse_smiles(const std::string& smiles) {
  static std::once_flag once;
  std::call_once(once, [] {
    boost::logging::disable_logs("rdApp.*");
    // RDKit reads this variable and sets it, with every SMILES, in every thread. Setting one that
    // is not there moves the environment under the feet of the threads that read it.
    setenv("RDK_USE_LEGACY_STEREO_PERCEPTION", "1", /*overwrite=*/0);
  });
  check_data(!smiles.empty(), "the SMILES is empty");
  check_data(smiles.size() <= kLongest, "the SMILES has {} characters, more than {}", smiles.size(),
             kLongest);
  const size_t atoms = count_atoms(smiles);
  check_data(atoms <= kMaxAtoms, "the SMILES has {} atoms, more than {}", atoms, kMaxAtoms);
  std::unique_ptr<RWMol> molecule;
  try {
    molecule.reset(RDKit::SmilesToMol(smiles));
  } catch (const std::exception& e) {
    std::string reason = e.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    fail(ErrorKind::kData, "RDKit rejects it: {}", reason.substr(0, 120));
  }
  check_data(molecule != nullptr, "invalid SMILES");
  check_data(molecule->getNumAtoms() > 0, "the SMILES has no atom");
  // [CH999999] is read without complaint, and then filled up with hydrogens one by one.
  for (const Atom* atom : molecule->atoms())
    check_data(atom->getTotalNumHs() <= kMaxHydrogens, "an atom has {} hydrogens, more than {}",
               atom->getTotalNumHs(), kMaxHydrogens);
  return molecule;
}

data::GraphRecord smiles_to_graph(const std::string& smiles, Recipe recipe) {
  const auto molecule = parse_smiles(smiles);
  data::GraphRecord g;
  g.num_nodes = molecule->getNumAtoms();
  for (const Atom* atom : molecule->atoms())
    if (recipe == Recipe::kOgb)
      add_ogb_atom(*atom, *molecule, g.node_categories);
    else
      g.node_categories.push_back(zinc_atom(*atom));
  if (recipe == Recipe::kZinc) {
    try {
      RDKit::MolOps::Kekulize(*molecule);
    } catch (const std::exception&) {
      fail(ErrorKind::kData, "RDKit cannot kekulize it");
    }
  }
  for (const Bond* bond : molecule->bonds()) {
    g.edges.insert(g.edges.end(), {static_cast<int32_t>(bond->getBeginAtomIdx()),
                                   static_cast<int32_t>(bond->getEndAtomIdx())});
    if (recipe == Recipe::kOgb) {
      add_ogb_bond(*bond, g.edge_categories);
    } else {
      const auto order = static_cast<int32_t>(bond->getBondTypeAsDouble());
      check_data(order >= 1 && order <= 3, "ZINC's bonds are single, double or triple");
      g.edge_categories.push_back(order);
    }
  }
  return g;
}

std::string scaffold(const std::string& smiles) {
  const auto molecule = parse_smiles(smiles);
  try {
    const std::unique_ptr<ROMol> core(RDKit::MurckoDecompose(*molecule));
    if (core == nullptr || core->getNumAtoms() == 0) return {};
    core->clearComputedProps();
    core->updatePropertyCache();
    RDKit::MolOps::symmetrizeSSSR(*core);
    return RDKit::MolToSmiles(*core, /*doIsomericSmiles=*/false);
  } catch (const std::exception&) {
    fail(ErrorKind::kData, "RDKit finds no scaffold");
  }
}

ZincTarget zinc_target(const std::string& smiles) {
  const auto molecule = parse_smiles(smiles);
  ZincTarget out;
  try {
    double refraction = 0;
    RDKit::Descriptors::calcCrippenDescriptors(*molecule, out.log_p, refraction);
    out.accessibility = sa_score(*molecule);
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    fail(ErrorKind::kData, "RDKit cannot compute its properties");
  }
  out.cycle = static_cast<double>(std::max<int64_t>(0, longest_basis_cycle(*molecule) - 6));
  // Means and deviations over the 220,011 molecules of ZINC's training file; those of the SA score
  // are fitted to the published labels.
  out.target = (out.log_p - 2.4577998) / 1.4334181 + (-out.accessibility + 3.05352) / 0.834605 +
               (-out.cycle + 0.04829304) / 0.2877576;
  return out;
}

}  // namespace egc::molecules
