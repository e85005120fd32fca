#include "egc/data/training_edges.h"

#include <algorithm>

#include "egc/core/error.h"

namespace egc::data {
namespace {

struct EdgeList {
  std::vector<int64_t> source;
  std::vector<int64_t> target;
  std::vector<int64_t> stored;  // which edge of the dataset it comes from
  std::vector<float> weight;    // of each edge, or empty

  void add(int64_t from, int64_t to, int64_t edge = -1) {
    source.push_back(from);
    target.push_back(to);
    stored.push_back(edge);
  }
};

// weights: [E] or empty. The inverse of an edge has its weight.
EdgeList to_list(std::span<const int32_t> edges, std::span<const float> weights, bool both_ways,
                 bool drop_loops) {
  EdgeList out;
  const size_t count = edges.size() / 2 * (both_ways ? 2 : 1);
  out.source.reserve(count);
  out.target.reserve(count);
  out.stored.reserve(count);
  out.weight.reserve(weights.empty() ? 0 : count);
  for (size_t e = 0; e < edges.size(); e += 2) {
    if (drop_loops && edges[e] == edges[e + 1]) continue;
    const auto edge = static_cast<int64_t>(e / 2);
    out.add(edges[e], edges[e + 1], edge);
    if (both_ways) out.add(edges[e + 1], edges[e], edge);
    if (!weights.empty()) out.weight.insert(out.weight.end(), both_ways ? 2 : 1, weights[e / 2]);
  }
  return out;
}

// Rows are sorted by source, then by features: equal edges stand side by side. Their weights must
// be equal (weight_conflict.h).
Csr without_duplicates(const Csr& graph, const Dataset& dataset, int64_t k) {
  const auto weights = graph.weights();
  const EdgeFeatures& features = graph.edge_features();
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> sources;
  std::vector<int64_t> kept;
  offsets.reserve(static_cast<size_t>(graph.num_targets()) + 1);
  sources.reserve(static_cast<size_t>(graph.num_edges()));
  kept.reserve(static_cast<size_t>(graph.num_edges()));
  for (int64_t i = 0; i < graph.num_targets(); ++i) {
    const int64_t begin = graph.offsets()[i];
    for (int64_t e = begin; e < graph.offsets()[i + 1]; ++e) {
      const bool same_ends = e > begin && graph.sources()[e] == graph.sources()[e - 1];
      if (same_ends && !weights.empty() && weights[e] != weights[e - 1])
        fail(ErrorKind::kData,
             "{}: graph {}: the edge between nodes {} and {} is stored with the weights {} and {}, "
             "but edges of undirected graphs have one weight",
             dataset.info.name, k, std::min<int64_t>(graph.sources()[e], i),
             std::max<int64_t>(graph.sources()[e], i), weights[e - 1], weights[e]);
      if (same_ends && (features.empty() || !features.less(e - 1, e))) continue;
      sources.push_back(graph.sources()[e]);
      kept.push_back(e);
    }
    offsets.push_back(static_cast<int64_t>(sources.size()));
  }
  std::vector<float> weights_kept;
  for (const int64_t e : kept)
    if (!weights.empty()) weights_kept.push_back(weights[e]);
  return {graph.num_targets(), std::move(offsets), std::move(sources), std::move(weights_kept),
          features.empty() ? EdgeFeatures{} : features.selected(kept)};
}

void add_next_tokens(const Dataset& d, const Sample& s, EdgeList& list) {
  int64_t last = -1;
  for (int64_t i = 0; i < s.num_nodes; ++i) {
    if (d.node_is_attributed[s.first_node + i] == 0) continue;
    if (last >= 0) {
      list.add(last, i);
      list.add(i, last);
    }
    last = i;
  }
}

// A name that no relation has yet.
std::string inverse_name(std::string name, const HeteroSchema& schema) {
  const auto taken = [&](const auto& relation) { return relation.name == name; };
  do name.insert(0, "rev_");
  while (std::any_of(schema.relations.begin(), schema.relations.end(), taken));
  return name;
}

}  // namespace

EdgeRules EdgeRules::of(const Dataset& dataset) {
  const bool code = !dataset.node_is_attributed.empty();
  return {.undirected = dataset.info.undirected,
          .inverse = dataset.info.add_inverse_edge || code,
          .next_token = code};
}

std::vector<int32_t> code_edges(const Dataset& dataset, int64_t k) {
  const Sample s = dataset.sample(k);
  std::vector<int32_t> out;
  const auto add = [&](int64_t from, int64_t to, CodeEdge kind) {
    out.insert(out.end(),
               {static_cast<int32_t>(from), static_cast<int32_t>(to), static_cast<int32_t>(kind)});
  };
  for (int64_t e = 0; e < s.num_edges(); ++e) {
    add(s.edges[2 * e], s.edges[2 * e + 1], CodeEdge::kAst);
    add(s.edges[2 * e + 1], s.edges[2 * e], CodeEdge::kAstInverse);
  }
  EdgeList tokens;
  add_next_tokens(dataset, s, tokens);
  for (size_t e = 0; e < tokens.source.size(); ++e)
    add(tokens.source[e], tokens.target[e],
        e % 2 == 0 ? CodeEdge::kNextToken : CodeEdge::kNextTokenInverse);
  return out;
}

EdgeFeatures stored_edge_features(const Dataset& dataset) {
  const Features& f = dataset.edge_features;
  EdgeFeatures out = edge_types(f.categories.values, f.categories.columns);
  out.columns = f.floats.columns;
  out.values.assign(f.floats.values.begin(), f.floats.values.end());
  return out;
}

Csr training_graph(const Dataset& dataset, int64_t k, const EdgeRules& rules,
                   const EdgeFeatures& features) {
  const Sample s = dataset.sample(k);
  const auto weights = dataset.edge_weights.span();
  const auto of_graph =
      weights.empty() ? weights : weights.subspan(s.first_edge, s.edges.size() / 2);
  EdgeList list = to_list(s.edges, of_graph, rules.undirected || rules.inverse, rules.drop_loops);
  check_data(!rules.next_token || features.empty(),
             "{}: graphs of code with features of edges are not supported", dataset.info.name);
  if (rules.next_token) add_next_tokens(dataset, s, list);
  EdgeFeatures of_edges;
  if (!features.empty()) {
    for (int64_t& e : list.stored) e += s.first_edge;
    of_edges = features.selected(list.stored);
  }
  const Csr graph = Csr::from_edges(s.num_nodes, list.source, list.target, list.weight, of_edges);
  return rules.undirected ? without_duplicates(graph, dataset, k) : graph;
}

HeteroSchema training_schema(const Dataset& dataset) {
  HeteroSchema out = dataset.hetero.schema;
  if (!dataset.info.add_inverse_edge) return out;
  for (const auto& r : dataset.hetero.schema.relations)
    if (r.source != r.target || !dataset.info.undirected)
      out.relations.push_back({inverse_name(r.name, out), r.target, r.source});
  return out;
}

HeteroGraph training_hetero_graph(const Dataset& dataset) {
  const HeteroParts& h = dataset.hetero;
  check(!h.empty(), "{}: has one type of nodes and edges", dataset.info.name);
  HeteroGraph out{h.num_nodes, {}};
  std::vector<Csr> inverses;
  for (size_t r = 0; r < h.edges.size(); ++r) {
    const auto& relation = h.schema.relations[r];
    const bool symmetric = dataset.info.undirected && relation.source == relation.target;
    const EdgeList list = to_list(h.edges[r].values, {}, symmetric, /*drop_loops=*/false);
    const Csr graph = relation_from_edges(relation, h.num_nodes, list.source, list.target);
    out.relations.push_back(symmetric ? without_duplicates(graph, dataset, 0) : graph);
    if (dataset.info.add_inverse_edge && !symmetric)
      inverses.push_back(relation_from_edges({"", relation.target, relation.source}, h.num_nodes,
                                             list.target, list.source));
  }
  out.relations.insert(out.relations.end(), inverses.begin(), inverses.end());
  return out;
}

}  // namespace egc::data
