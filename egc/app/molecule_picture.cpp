#include "egc/app/molecule_picture.h"

#include <algorithm>
#include <string_view>

namespace egc::app {
namespace {

// Words separated by blanks, in the order of the categories.
// OGB counts atomic numbers from 1; ZINC has kinds of its own (molecules/molecule_rdkit.cpp); the
// last are those of `egc data generate molecules`.
constexpr std::string_view kElements =
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb "
    "Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi";
constexpr std::string_view kZincKinds =
    "C O N F CH S Cl O- NH+ Br NH3+ NH2+ N+ N- S- I P OH+ NH- O+ S+ PH PH2 CH2- P+ SH+ CH- PH+";
constexpr std::string_view kGenerated = "C O N F S Cl";

std::string word(std::string_view words, int64_t index) {
  for (; index > 0; --index) {
    const size_t blank = words.find(' ');
    if (blank == std::string_view::npos) return "?";
    words.remove_prefix(blank + 1);
  }
  return std::string(words.substr(0, words.find(' ')));
}

std::string_view symbols_of(const data::DatasetInfo& info) {
  if (info.recipe == "ogb") return kElements;
  if (info.recipe == "zinc") return kZincKinds;
  const bool generated = info.name == "molecules" && info.categories == std::vector<int64_t>{6};
  return generated ? kGenerated : std::string_view();
}

}  // namespace

void add_graph(report::GraphPicture& picture, const data::Dataset& dataset, int64_t graph) {
  const data::Sample sample = dataset.sample(graph);
  const data::Features& edges = dataset.edge_features;
  const std::string_view symbols = symbols_of(dataset.info);
  std::vector<bool> seen(static_cast<size_t>(sample.num_nodes * sample.num_nodes));
  for (int64_t e = 0; e < sample.num_edges(); ++e) {
    const auto ends = std::minmax(sample.edges[static_cast<size_t>(2 * e)],
                                  sample.edges[static_cast<size_t>(2 * e + 1)]);
    const auto pair = static_cast<size_t>(ends.first * sample.num_nodes + ends.second);
    if (ends.first == ends.second || seen[pair]) continue;
    seen[pair] = true;
    picture.edges.emplace_back(ends);
    if (symbols.empty() || edges.categories.empty()) continue;
    // OGB: single, double, triple, aromatic from 0 on; the others count lines.
    const int32_t bond = edges.categories.at(sample.first_edge + e, 0);
    picture.bonds.push_back(dataset.info.recipe == "ogb" ? bond + 1 : bond);
  }
  if (symbols.empty() || dataset.node_features.categories.empty()) return;
  for (int64_t i = 0; i < sample.num_nodes; ++i)
    picture.symbols.push_back(
        word(symbols, dataset.node_features.categories.at(sample.first_node + i, 0)));
}

}  // namespace egc::app
