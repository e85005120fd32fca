// Molecules; the input is a SMILES. RDKit is not instrumented: the categories and messages it leads
// to count as coverage.
#include "egc/molecules/molecule.h"

#include "tests/fuzz/fuzz_input.h"

namespace {

using egc::fuzz::expect;
using egc::molecules::Recipe;

void check_categories(const std::vector<int32_t>& values, int64_t rows,
                      const std::vector<int64_t>& categories, char what) {
  const size_t columns = categories.size();
  expect(values.size() == static_cast<size_t>(rows) * columns, "{} categories", values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    expect(values[k] >= 0 && values[k] < categories[k % columns], "the category {} of column {}",
           values[k], k % columns);
    const char seen[] = {what, static_cast<char>(k % columns), static_cast<char>(values[k])};
    egc::fuzz::count_as_coverage({seen, sizeof(seen)});
  }
}

void check_graph(const std::string& smiles, Recipe recipe) {
  const auto graph = egc::molecules::smiles_to_graph(smiles, recipe);
  for (const int32_t id : graph.edges)
    expect(id >= 0 && id < graph.num_nodes, "an edge to node {} of {}", id, graph.num_nodes);
  const char what = recipe == Recipe::kOgb ? 'o' : 'z';
  check_categories(graph.node_categories, graph.num_nodes, atom_categories(recipe), what);
  check_categories(graph.edge_categories, static_cast<int64_t>(graph.edges.size()) / 2,
                   bond_categories(recipe), static_cast<char>(what + 1));
}

template <class F>
void check(F&& f) {
  egc::fuzz::throws_only({egc::ErrorKind::kData}, f);
}

}  // namespace

// The table of fragments is read once, which takes seconds here.
extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  egc::molecules::zinc_target("C");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string smiles = egc::fuzz::Input(data, size).text();
  bool is_molecule = false;
  check([&] {
    check_graph(smiles, Recipe::kOgb);
    is_molecule = true;
  });
  if (!is_molecule) return 0;  // the others would refuse it just so, in as much time
  check([&] { check_graph(smiles, Recipe::kZinc); });
  check([&] { egc::molecules::scaffold(smiles); });
  check([&] { egc::molecules::zinc_target(smiles); });
  return 0;
}
