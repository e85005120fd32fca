#include "egc/data/build/convert_published.h"

#include "egc/core/error.h"
#include "egc/data/build/dataset_builder.h"
#include "egc/data/dataset_table.h"
#include "egc/data/formats/torch_file.h"
#include "egc/data/splits.h"

namespace egc::data {
namespace {

namespace fs = std::filesystem;
using Kind = PyValue::Kind;

const PyValue& need(const PyValue& dict, const char* key, const std::string& where) {
  const PyValue* value = dict.find(key);
  if (value == nullptr) fail(ErrorKind::kData, "{}: expected a dictionary with \"{}\"", where, key);
  return *value;
}

// bond_type is a matrix of all pairs; edges are its nonzero places, row by row.
GraphRecord zinc_molecule(const TorchFile& file, const PyValue& dict, const std::string& where) {
  GraphRecord g;
  std::vector<int64_t> shape;
  g.node_categories = file.values<int32_t>(need(dict, "atom_type", where), shape);
  g.num_nodes = static_cast<int64_t>(g.node_categories.size());
  const auto bonds = file.values<int32_t>(need(dict, "bond_type", where), shape);
  check_data(shape.size() == 2 && shape[0] == g.num_nodes && shape[1] == g.num_nodes,
             "{}: bond_type must be a square of its {} atoms", where, g.num_nodes);
  for (int64_t k = 0; k < static_cast<int64_t>(bonds.size()); ++k) {
    if (bonds[k] == 0) continue;
    g.edges.insert(g.edges.end(),
                   {static_cast<int32_t>(k / g.num_nodes), static_cast<int32_t>(k % g.num_nodes)});
    g.edge_categories.push_back(bonds[k]);
  }
  g.values = file.values<float>(need(dict, "logP_SA_cycle_normalized", where), shape);
  check_data(g.values.size() == 1, "{}: expected one target, got {}", where, g.values.size());
  return g;
}

void add_zinc_part(const fs::path& dir, const std::string& part, DatasetBuilder& builder) {
  const fs::path path = dir / (part + ".pickle");
  const auto chosen = read_index_lines(dir / (part + ".index"));
  check_data(chosen.size() == 1, "{}: expected one line of ids, found {}",
             (dir / (part + ".index")).string(), chosen.size());
  const TorchFile file(path);
  check_data(file.root().is(Kind::kList), "{}: expected a list of molecules", path.string());
  const auto& molecules = file.root().items;
  for (const int64_t id : chosen[0].ids) {
    check_data(id >= 0 && id < static_cast<int64_t>(molecules.size()),
               "{}: the index refers to molecule {}, but there are {}", path.string(), id,
               molecules.size());
    builder.add(
        zinc_molecule(file, *molecules[id], fmt::format("{}: molecule {}", path.string(), id)));
  }
}

DatasetInfo known_info(const char* name) {
  return parse_info(find_known(name)->info_json, name).info;
}

GraphRecord pyg_graph(const TorchFile& file, const PyValue& dict, const std::string& where) {
  GraphRecord g;
  std::vector<int64_t> shape;
  const auto colours = file.values<float>(need(dict, "x", where), shape);
  check_data(shape.size() == 2 && shape[1] == 3, "{}: x must be [nodes, 3]", where);
  g.num_nodes = shape[0];
  const auto places = file.values<float>(need(dict, "pos", where), shape);
  check_data(shape == std::vector<int64_t>({g.num_nodes, 2}), "{}: pos must be [nodes, 2]", where);
  for (int64_t i = 0; i < g.num_nodes; ++i)
    g.node_floats.insert(
        g.node_floats.end(),
        {colours[3 * i], colours[3 * i + 1], colours[3 * i + 2], places[2 * i], places[2 * i + 1]});
  const auto edges = file.values<int32_t>(need(dict, "edge_index", where), shape);
  check_data(shape.size() == 2 && shape[0] == 2, "{}: edge_index must be [2, edges]", where);
  for (int64_t e = 0; e < shape[1]; ++e)
    g.edges.insert(g.edges.end(), {edges[e], edges[shape[1] + e]});
  const PyValue& label = need(dict, "y", where);
  if (label.is(Kind::kInt)) {
    check_data(label.number >= 0 && label.number < 10, "{}: expected a class below 10, got {}",
               where, label.number);
    g.classes = {static_cast<int32_t>(label.number)};
  } else {
    g.classes = file.values<int32_t>(label, shape);
    check_data(g.classes.size() == 1, "{}: expected one class", where);
  }
  return g;
}

}  // namespace

Dataset convert_zinc(const fs::path& dir) {
  DatasetBuilder builder({.node = 1, .edge = 1});
  std::array<int64_t, 3> sizes = {};
  const char* parts[] = {"train", "val", "test"};
  for (int p = 0; p < 3; ++p) {
    const int64_t before = builder.num_graphs();
    add_zinc_part(dir, parts[p], builder);
    sizes[p] = builder.num_graphs() - before;
  }
  Dataset d = builder.finish();
  d.info = known_info("zinc");
  d.info.edge_features = FeatureKind::kCategorical;
  d.info.edge_categories = {4};
  d.splits = {ranges_split("benchmark", sizes[0], sizes[1], sizes[2])};
  check_dataset(d, dir.string());
  return d;
}

Dataset convert_pyg_superpixels(const fs::path& path) {
  const TorchFile file(path);
  const PyValue& root = file.root();
  check_data((root.is(Kind::kList) || root.is(Kind::kTuple)) && root.items.size() == 3,
             "{}: expected the three sets train, valid and test", path.string());
  DatasetBuilder builder({.node = 5});
  std::array<int64_t, 3> sizes = {};
  for (int p = 0; p < 3; ++p) {
    const PyValue& part = *root.items[p];
    check_data(part.is(Kind::kList) || part.is(Kind::kTuple), "{}: expected a list of graphs",
               path.string());
    sizes[p] = static_cast<int64_t>(part.items.size());
    for (int64_t k = 0; k < sizes[p]; ++k)
      builder.add(pyg_graph(file, *part.items[k],
                            fmt::format("{}: graph {} of set {}", path.string(), k, p)));
  }
  Dataset d = builder.finish();
  d.info = known_info("cifar10");
  d.splits = {ranges_split("benchmark", sizes[0], sizes[1], sizes[2])};
  check_dataset(d, path.string());
  return d;
}

}  // namespace egc::data
