// Stands in for molecule_rdkit.cpp and sa_score.cpp in a build without RDKit.
#include "egc/core/error.h"
#include "egc/molecules/molecule.h"

namespace egc::molecules {
namespace {

[[noreturn]] void no_rdkit() {
  fail(ErrorKind::kUsage,
       "cannot read SMILES: this egc was built without RDKit; install librdkit-dev and rebuild");
}

}  // namespace

bool have_rdkit() { return false; }
data::GraphRecord smiles_to_graph(const std::string&, Recipe) { no_rdkit(); }
std::string scaffold(const std::string&) { no_rdkit(); }
ZincTarget zinc_target(const std::string&) { no_rdkit(); }

}  // namespace egc::molecules
