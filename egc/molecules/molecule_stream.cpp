#include "egc/molecules/molecule_stream.h"

#include <limits>

#include "egc/core/error.h"
#include "egc/core/parallel.h"

namespace egc::molecules {
namespace {

// Published sets do not say how their features were made, but the numbers of categories tell.
Recipe recipe_of(const data::DatasetInfo& info) {
  if (!info.recipe.empty()) return recipes().at(info.recipe);
  const auto like = [&](Recipe recipe) {
    const auto& known = atom_categories(recipe);
    return info.categories.size() == known.size() && info.categories[0] == known[0];
  };
  if (like(Recipe::kOgb)) return Recipe::kOgb;
  if (like(Recipe::kZinc)) return Recipe::kZinc;
  fail(ErrorKind::kData,
       "the model was trained on {}, whose features are not computed from SMILES, so it does not "
       "take SMILES",
       info.name);
}

}  // namespace

MoleculeStream::MoleculeStream(const std::filesystem::path& path, const std::string& smiles_column,
                               const data::DatasetInfo& info)
    : rows_(path, smiles_column, {}), info_(info), recipe_(recipe_of(info)) {
  info_.name = path.string();
  // Bonds are made too, whatever the network reads of them.
  info_.edge_features = data::FeatureKind::kCategorical;
  info_.edge_categories = bond_categories(recipe_);
}

std::optional<MoleculeStream::Chunk> MoleculeStream::next(int64_t count) {
  std::vector<SmilesRow> rows;
  SmilesRow row;
  while (static_cast<int64_t>(rows.size()) < count && rows_.next(row)) rows.push_back(row);
  if (rows.empty()) return std::nullopt;
  std::vector<data::GraphRecord> graphs(rows.size());
  std::vector<std::string> errors(rows.size());
  parallel_tasks(static_cast<int64_t>(rows.size()), [&](int64_t k) {
    try {
      graphs[k] = smiles_to_graph(rows[k].smiles, recipe_);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kData) throw;
      errors[k] = e.what();
    }
  });
  Chunk out;
  data::DatasetBuilder builder({.node = static_cast<int64_t>(atom_categories(recipe_).size()),
                                .edge = static_cast<int64_t>(bond_categories(recipe_).size()),
                                .label = info_.num_targets});
  for (size_t k = 0; k < rows.size(); ++k) {
    if (!errors[k].empty()) {
      out.bad.push_back({rows[k].line, rows[k].smiles, errors[k]});
      continue;
    }
    if (info_.num_classes > 0)
      graphs[k].classes = {-1};
    else
      graphs[k].values.assign(static_cast<size_t>(info_.num_targets),
                              std::numeric_limits<float>::quiet_NaN());
    builder.add(graphs[k]);
    out.rows.push_back(std::move(rows[k]));
  }
  out.dataset = builder.finish();
  out.dataset.info = info_;
  return out;
}

}  // namespace egc::molecules
