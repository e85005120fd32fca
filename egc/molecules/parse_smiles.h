// RDKit's own types stay behind this header: only the files of this module that need RDKit use it.
#pragma once

#include <GraphMol/RWMol.h>

#include <memory>
#include <string>

namespace egc::molecules {

// A sanitised molecule. Throws egc::Error (kData) with the reason. RDKit's messages to stderr are
// switched off for good.
std::unique_ptr<RDKit::RWMol> parse_smiles(const std::string& smiles);

// The SA score, 1 (easy to make) to 10.
double sa_score(const RDKit::ROMol& molecule);

}  // namespace egc::molecules
