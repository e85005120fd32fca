// Molecules from SMILES: graphs, scaffolds and targets. Needs RDKit; without it, functions throw
// kUsage.
#pragma once

#include <string>

#include "egc/data/build/dataset_builder.h"

namespace egc::molecules {

// How atoms and bonds become features.
enum class Recipe {
  kOgb,  // the Open Graph Benchmark's nine features of an atom and three of a bond
  kZinc  // ZINC's 28 kinds of atoms and the order of a bond, aromatic rings with double bonds
};
// Names of the recipes; inline, so that programs need not load RDKit for it.
inline const NamedTable<Recipe>& recipes() {
  static const NamedTable<Recipe> table("feature recipe",
                                        {{"ogb", Recipe::kOgb}, {"zinc", Recipe::kZinc}});
  return table;
}

// Number of categories of each atom feature.
const std::vector<int64_t>& atom_categories(Recipe recipe);
// Number of categories of each bond feature.
const std::vector<int64_t>& bond_categories(Recipe recipe);

bool have_rdkit();  // whether this build has RDKit

// The graph of a molecule: atoms in the order of the SMILES, each bond once in RDKit's order.
// Throws kData with a short reason for invalid SMILES and atoms unknown to the recipe.
data::GraphRecord smiles_to_graph(const std::string& smiles, Recipe recipe);

// The Bemis-Murcko scaffold as SMILES without chirality; empty for a molecule without rings.
std::string scaffold(const std::string& smiles);

// ZINC's target (Gomez-Bombarelli et al. 2018, Jin et al. 2018): octanol-water partition
// coefficient - synthetic accessibility - long cycles, each standardized.
struct ZincTarget {
  double log_p = 0;          // octanol-water partition coefficient
  double accessibility = 0;  // SA score of Ertl and Schuffenhauer, 1 (easy) to 10
  double cycle = 0;          // atoms beyond six of the longest ring of a cycle basis
  double target = 0;         // combination of the three
};
ZincTarget zinc_target(const std::string& smiles);  // of a molecule

}  // namespace egc::molecules
