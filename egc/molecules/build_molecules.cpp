#include "egc/molecules/build_molecules.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/data/splits.h"
#include "egc/molecules/smiles_rows.h"

namespace egc::molecules {
namespace {

using data::Dataset;

std::vector<SmilesRow> read_all(const MoleculeOptions& options) {
  SmilesRows rows(options.smiles, options.smiles_column, options.labels);
  std::vector<SmilesRow> out;
  SmilesRow row;
  while (rows.next(row)) out.push_back(row);
  return out;
}

struct Made {
  data::GraphRecord graph;
  std::string scaffold;
  std::string error;
};

std::vector<Made> make_all(const std::vector<SmilesRow>& rows, const MoleculeOptions& options) {
  std::vector<Made> out(rows.size());
  constexpr int64_t kPerTask = 64;
  const auto count = static_cast<int64_t>(rows.size());
  ProgressCounter progress(options.on_progress, count);
  parallel_tasks((count + kPerTask - 1) / kPerTask, [&](int64_t task) {
    const int64_t end = std::min(count, (task + 1) * kPerTask);
    for (int64_t k = task * kPerTask; k < end; ++k) {
      try {
        out[k].graph = smiles_to_graph(rows[k].smiles, options.recipe);
        out[k].graph.values = rows[k].labels;
        if (options.zinc_target)
          out[k].graph.values = {static_cast<float>(zinc_target(rows[k].smiles).target)};
        if (options.split == MoleculeSplit::kScaffold) out[k].scaffold = scaffold(rows[k].smiles);
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::kData) throw;
        out[k].error = e.what();
      }
    }
    progress.add(end - task * kPerTask);
  });
  return out;
}

Task decide_task(const MoleculeOptions& options, const Dataset& d) {
  if (options.task) return *options.task;
  const auto is_bit = [](float v) { return std::isnan(v) || v == 0 || v == 1; };
  return std::all_of(d.labels.values.values.begin(), d.labels.values.values.end(), is_bit)
             ? Task::kGraphBinary
             : Task::kGraphRegression;
}

}  // namespace

data::Split scaffold_split(const std::vector<std::string>& scaffolds,
                           std::array<double, 3> fractions) {
  std::map<std::string, std::vector<int64_t>> groups;
  for (size_t k = 0; k < scaffolds.size(); ++k)
    groups[scaffolds[k]].push_back(static_cast<int64_t>(k));
  std::vector<std::vector<int64_t>> sets;
  for (auto& [name, ids] : groups) sets.push_back(std::move(ids));
  std::sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a[0] > b[0];
  });
  const auto total = static_cast<double>(scaffolds.size());
  std::vector<int64_t> parts[3];
  for (const auto& ids : sets) {
    const auto before = static_cast<double>(parts[0].size());
    const auto valid = static_cast<double>(parts[1].size());
    const auto size = static_cast<double>(ids.size());
    const int part = before + size <= fractions[0] * total                            ? 0
                     : before + valid + size <= (fractions[0] + fractions[1]) * total ? 1
                                                                                      : 2;
    parts[part].insert(parts[part].end(), ids.begin(), ids.end());
  }
  for (auto& part : parts) std::sort(part.begin(), part.end());
  return {"scaffold", parts[0], parts[1], parts[2]};
}

Dataset build_molecules(const MoleculeOptions& options, std::vector<BadSmiles>& bad) {
  check(options.zinc_target != !options.labels.empty(),
        "give either --label columns or --zinc-target");
  if (options.task)
    check(*options.task == Task::kGraphRegression || *options.task == Task::kGraphBinary,
          "--task must be graph-regression or graph-binary for molecules, got {}",
          tasks().name_of(*options.task));
  const std::vector<SmilesRow> rows = read_all(options);
  check_data(!rows.empty(), "{}: contains no molecules", options.smiles.string());
  std::vector<Made> made = make_all(rows, options);

  const auto label_columns = static_cast<int64_t>(options.zinc_target ? 1 : options.labels.size());
  const auto& atoms = atom_categories(options.recipe);
  const auto& bonds = bond_categories(options.recipe);
  data::DatasetBuilder builder({.node = static_cast<int64_t>(atoms.size()),
                                .edge = static_cast<int64_t>(bonds.size()),
                                .label = label_columns});
  std::vector<std::string> scaffolds;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (made[k].error.empty()) {
      builder.add(made[k].graph);
      scaffolds.push_back(std::move(made[k].scaffold));
    } else {
      bad.push_back({rows[k].line, rows[k].smiles, made[k].error});
    }
  }
  if (!bad.empty() && !options.skip_bad)
    fail(ErrorKind::kData, "{}:{}: \"{}\": {}{}", options.smiles.string(), bad[0].line,
         bad[0].smiles.substr(0, 80), bad[0].reason,
         bad.size() > 1 ? fmt::format(" (and {} more invalid lines)", bad.size() - 1) : "");
  check_data(builder.num_graphs() > 0, "{}: contains no valid molecules", options.smiles.string());
  const int64_t graphs = builder.num_graphs();
  Dataset d = builder.finish();
  d.info.name = options.name;
  d.info.task = decide_task(options, d);
  d.info.metric = data::usual_metric(d.info.task);
  d.info.add_inverse_edge = true;
  d.info.categories = atoms;
  d.info.edge_categories = bonds;
  d.info.target_names =
      options.zinc_target ? std::vector<std::string>{"logP-SA-cycle"} : options.labels;
  d.info.recipe = std::string(recipes().name_of(options.recipe));
  d.splits = {options.split == MoleculeSplit::kScaffold
                  ? scaffold_split(scaffolds, options.fractions)
                  : data::random_split(graphs, options.fractions, options.seed)};
  check_dataset(d, options.smiles.string());
  return d;
}

}  // namespace egc::molecules
