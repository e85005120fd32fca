#include "egc/molecules/molecule.h"

namespace egc::molecules {

const std::vector<int64_t>& atom_categories(Recipe recipe) {
  static const std::vector<int64_t> ogb = {119, 5, 12, 12, 10, 6, 6, 2, 2};
  static const std::vector<int64_t> zinc = {28};
  return recipe == Recipe::kOgb ? ogb : zinc;
}

const std::vector<int64_t>& bond_categories(Recipe recipe) {
  static const std::vector<int64_t> ogb = {5, 6, 2};
  static const std::vector<int64_t> zinc = {4};
  return recipe == Recipe::kOgb ? ogb : zinc;
}

}  // namespace egc::molecules
