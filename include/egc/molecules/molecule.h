// One molecule: from its SMILES to a graph, a scaffold, a target. By RDKit; without it (a build on
// a machine that has none) every function says so.
#pragma once

#include <string>

#include "egc/data/build/dataset_builder.h"

namespace egc::molecules {

// How atoms and bonds become features.
enum class Recipe {
  kOgb,  // the Open Graph Benchmark's nine of an atom and three of a bond
  kZinc  // ZINC's 28 kinds of atoms and the order of a bond, aromatic rings written with double
         // bonds
};
// Inline, so that a program can name them without loading RDKit.
inline const NamedTable<Recipe>& recipes() {
  static const NamedTable<Recipe> table("feature recipe",
                                        {{"ogb", Recipe::kOgb}, {"zinc", Recipe::kZinc}});
  return table;
}

// Numbers of categories of the columns.
const std::vector<int64_t>& atom_categories(Recipe recipe);
const std::vector<int64_t>& bond_categories(Recipe recipe);

bool have_rdkit();

// Atoms in the order of the SMILES, every bond once in RDKit's order. Throws kData with a short
// reason where the SMILES is none, or an atom is unknown to the recipe.
data::GraphRecord smiles_to_graph(const std::string& smiles, Recipe recipe);

// The Bemis-Murcko scaffold as a SMILES without chirality; empty for a molecule without rings.
std::string scaffold(const std::string& smiles);

// ZINC's target and its parts (Gomez-Bombarelli et al. 2018, Jin et al. 2018): octanol-water
// partition minus synthetic accessibility minus long cycles, each standardised.
struct ZincTarget {
  double log_p = 0;
  double accessibility = 0;  // the SA score of Ertl and Schuffenhauer, 1 (easy) to 10
  double cycle = 0;          // atoms beyond six of the longest ring of a cycle basis
  double target = 0;
};
ZincTarget zinc_target(const std::string& smiles);

}  // namespace egc::molecules
