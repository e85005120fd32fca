#include "egc/data/partition/dataset_part.h"
#include "egc/core/hash64.h"

#include <algorithm>

#include "egc/data/raw/cache.h"
#include "egc/data/training_edges.h"

namespace egc::data {
namespace {

template <class T>
Matrix<T> rows_of(const Matrix<T>& m, std::span<const int64_t> rows) {
  std::vector<T> out;
  out.reserve(rows.size() * static_cast<size_t>(m.columns));
  if (!m.empty())
    for (const int64_t i : rows) {
      const auto row = m.row(i);
      out.insert(out.end(), row.begin(), row.end());
    }
  return {std::move(out), m.columns};
}

// The ids that have a number here, as those numbers.
Array<int64_t> renumbered(std::span<const int64_t> ids, std::span<const int64_t> number) {
  std::vector<int64_t> out;
  for (const int64_t id : ids)
    if (number[id] >= 0) out.push_back(number[id]);
  std::sort(out.begin(), out.end());
  return out;
}

Features features_of(const Features& whole, std::span<const int64_t> nodes) {
  return {rows_of(whole.floats, nodes), rows_of(whole.categories, nodes)};
}

}  // namespace

bool can_be_cut(const Dataset& d) {
  return (d.info.task == Task::kNodeClassification ||
          d.info.task == Task::kNodeClassificationHetero) &&
         d.hetero.empty() == (d.info.task == Task::kNodeClassification) && d.splits_nodes();
}

HeteroSchema schema_of(const Dataset& d) {
  return d.hetero.empty() ? HeteroSchema::homogeneous() : training_schema(d);
}

WholeGraph::WholeGraph(const Dataset& d) : schema(schema_of(d)) {
  check(can_be_cut(d), "{}: only a single graph with node classes can be partitioned", d.info.name);
  graph = d.hetero.empty() ? HeteroGraph::homogeneous(
                                 training_graph(d, 0, EdgeRules::of(d), stored_edge_features(d)))
                           : training_hetero_graph(d);
}

DatasetPart cut_dataset(const Dataset& whole, const WholeGraph& graph,
                        std::span<const Split> splits, std::span<const int32_t> part_of,
                        int64_t parts, int64_t part) {
  DatasetPart out;
  out.part = part;
  out.parts = parts;
  out.cut = fmt::format("{:016x}", hash64(part_of.data(), part_of.size_bytes()));
  out.share = cut_part(graph.schema, graph.graph, part_of, parts, part);
  Dataset& d = out.dataset;
  d.info = whole.info;
  d.checksum_of_dataset = dataset_checksum(whole);
  const auto& nodes = out.share.nodes;
  if (whole.hetero.empty()) {
    d.first_node = std::vector<int64_t>{0, std::ssize(nodes[0])};
    d.first_edge = std::vector<int64_t>{0, 0};
    d.edges.columns = 2;
    // The edges, and their features, are in the share; here is how many features there are.
    d.edge_features.floats.columns = whole.edge_features.floats.columns;
    d.edge_features.categories.columns = whole.edge_features.categories.columns;
    d.node_features = features_of(whole.node_features, nodes[0]);
    d.encodings = rows_of(whole.encodings, nodes[0]);
  } else {
    d.hetero.schema = whole.hetero.schema;
    d.hetero.target_type = whole.hetero.target_type;
    d.hetero.num_nodes = out.share.graph.num_nodes;
    d.hetero.nodes_of_graph = whole.hetero.num_nodes;
    d.hetero.edges.resize(whole.hetero.edges.size());
    for (size_t t = 0; t < nodes.size(); ++t)
      d.hetero.features.push_back(features_of(whole.hetero.features[t], nodes[t]));
  }
  const auto& labelled = nodes[whole.hetero.target_type];
  std::vector<int32_t> classes;
  for (const int64_t i : labelled) classes.push_back(whole.labels.classes[i]);
  d.labels.classes = std::move(classes);
  std::vector<int64_t> number(static_cast<size_t>(whole.num_items()), -1);
  for (size_t k = 0; k < labelled.size(); ++k) number[labelled[k]] = static_cast<int64_t>(k);
  for (const Split& split : splits)
    d.splits.push_back({split.name, renumbered(split.train, number),
                        renumbered(split.valid, number), renumbered(split.test, number)});
  return out;
}

PartFacts facts_of(const HeteroGraph& part) {
  PartFacts out;
  for (const int64_t n : part.num_nodes) out.nodes += n;
  for (const Csr& relation : part.relations) {
    const int64_t owned = relation.num_own_sources();
    out.edges += relation.num_edges();
    out.rows_received += relation.num_sources() - owned;
    out.rows_sent += std::ssize(relation.halo()->sent);
    for (const int32_t source : relation.sources()) out.edges_cut += source >= owned ? 1 : 0;
  }
  return out;
}

}  // namespace egc::data
