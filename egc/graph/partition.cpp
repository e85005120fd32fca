#include "egc/graph/partition.h"

#include <algorithm>
#include <limits>

#include "egc/core/error.h"
#include "egc/graph/cut_by_metis.h"

namespace egc {
namespace {

void sort_unique(std::vector<int64_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

std::vector<int32_t> by_ranges(std::span<const int64_t> num_nodes, int64_t parts) {
  std::vector<int32_t> part_of;
  for (const int64_t nodes : num_nodes)
    for (int64_t i = 0; i < nodes; ++i) part_of.push_back(static_cast<int32_t>(i * parts / nodes));
  return part_of;
}

// Parts of a small graph may be empty; no process can do without nodes. Those that have none get
// one of the largest's.
void fill_empty_parts(std::vector<int32_t>& part_of, int64_t parts) {
  std::vector<int64_t> size(static_cast<size_t>(parts));
  for (const int32_t p : part_of) ++size[p];
  for (int32_t empty = 0; empty < parts; ++empty) {
    if (size[empty] > 0) continue;
    const auto largest =
        static_cast<int32_t>(std::max_element(size.begin(), size.end()) - size.begin());
    *std::find(part_of.begin(), part_of.end(), largest) = empty;
    --size[largest];
    ++size[empty];
  }
}

// The nodes of one type: who has them, and which are this part's, in its order.
struct Owners {
  std::span<const int32_t> part_of;
  std::span<const int64_t> owned;
};

// Sources that edges between parts begin at, by the other part.
struct Borders {
  std::vector<std::vector<int64_t>> received;  // of others, by owner
  std::vector<std::vector<int64_t>> sent;      // own, by who needs them
};

Borders borders_of(const Csr& graph, std::span<const int32_t> target_part,
                   std::span<const int32_t> source_part, int64_t parts, int32_t me) {
  Borders out{std::vector<std::vector<int64_t>>(static_cast<size_t>(parts)),
              std::vector<std::vector<int64_t>>(static_cast<size_t>(parts))};
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
      const int32_t j = graph.sources()[e];
      const int32_t to = target_part[i];
      const int32_t from = source_part[j];
      if (to == from) continue;
      if (to == me) out.received[from].push_back(j);
      if (from == me) out.sent[to].push_back(j);
    }
  for (auto* lists : {&out.received, &out.sent})
    for (auto& ids : *lists) sort_unique(ids);
  return out;
}

bool reaches_out(const Csr& graph, int64_t row, std::span<const int32_t> source_part, int32_t me) {
  const auto begin = graph.sources().begin();
  return std::any_of(begin + graph.offsets()[row], begin + graph.offsets()[row + 1],
                     [&](int32_t j) { return source_part[j] != me; });
}

Csr cut_relation(const Csr& graph, const Owners& target, const Owners& source,
                 bool rows_are_sources, int64_t parts, int32_t me) {
  auto halo = std::make_shared<Halo>();
  halo->owned = std::ssize(source.owned);
  halo->rows_are_sources = rows_are_sources;
  const auto outward = std::find_if(target.owned.begin(), target.owned.end(), [&](int64_t i) {
    return reaches_out(graph, i, source.part_of, me);
  });
  halo->interior = outward - target.owned.begin();

  const Borders borders = borders_of(graph, target.part_of, source.part_of, parts, me);
  std::vector<int64_t> source_nodes(source.owned.begin(), source.owned.end());
  for (const auto& ids : borders.received) {
    halo->num_received.push_back(std::ssize(ids));
    source_nodes.insert(source_nodes.end(), ids.begin(), ids.end());
  }
  std::vector<int32_t> local(static_cast<size_t>(graph.num_sources()), -1);
  for (size_t k = 0; k < source_nodes.size(); ++k) local[source_nodes[k]] = static_cast<int32_t>(k);
  for (const auto& ids : borders.sent) {
    halo->num_sent.push_back(std::ssize(ids));
    for (const int64_t id : ids) halo->sent.push_back(local[id]);
  }
  for (const bool add_loops : {false, true}) {
    if (add_loops && !rows_are_sources) break;
    const std::vector<double> degree = graph.source_degrees(add_loops);
    for (const int64_t id : source_nodes) halo->degree[add_loops].push_back(degree[id]);
  }

  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> sources;
  std::vector<float> weights;
  std::vector<std::pair<int32_t, int64_t>> row;  // source and edge; duplicates keep their order
  std::vector<int64_t> edges;
  const bool with_features = !graph.edge_features().empty();
  for (const int64_t i : target.owned) {
    row.clear();
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      row.emplace_back(local[graph.sources()[e]], e);
    std::sort(row.begin(), row.end());
    for (const auto& [from, e] : row) {
      sources.push_back(from);
      if (!graph.weights().empty()) weights.push_back(graph.weights()[e]);
      if (with_features) edges.push_back(e);
    }
    offsets.push_back(std::ssize(sources));
  }
  EdgeFeatures features;
  if (with_features) features = graph.edge_features().selected(edges);
  return {std::ssize(target.owned), std::ssize(source_nodes), std::move(offsets),
          std::move(sources),       std::move(weights),       std::move(halo),
          std::move(features)};
}

}  // namespace

const NamedTable<PartitionMethod>& partition_methods() {
  static const NamedTable<PartitionMethod> table(
      "partition method",
      {{"metis", PartitionMethod::kMetis}, {"ranges", PartitionMethod::kRanges}});
  return table;
}

std::vector<int32_t> partition(const HeteroSchema& schema, const HeteroGraph& graph, int64_t parts,
                               PartitionMethod method) {
  check_hetero_graph(schema, graph);
  const int64_t nodes = first_nodes(graph).back();
  check(parts >= 1 && parts <= nodes,
        "partition: the number of partitions must be from 1 to the {} nodes, got {}", nodes, parts);
  std::vector<int32_t> part_of = method == PartitionMethod::kMetis && parts > 1
                                     ? cut_by_metis(schema, graph, parts)
                                     : by_ranges(graph.num_nodes, parts);
  fill_empty_parts(part_of, parts);
  return part_of;
}

GraphPart cut_part(const HeteroSchema& schema, const HeteroGraph& graph,
                   std::span<const int32_t> part_of, int64_t parts, int64_t part) {
  check_hetero_graph(schema, graph);
  const auto me = static_cast<int32_t>(part);
  const std::vector<int64_t> first = first_nodes(graph);
  check(std::ssize(part_of) == first.back(),
        "cut_part: expected a partition for each of the {} nodes, got {}", first.back(),
        part_of.size());
  const auto part_of_type = [&](int64_t t) {
    return part_of.subspan(static_cast<size_t>(first[t]), static_cast<size_t>(graph.num_nodes[t]));
  };
  GraphPart out;
  for (int64_t t = 0; t < std::ssize(graph.num_nodes); ++t) {
    const auto is_boundary = [&](int64_t i) {
      for (size_t r = 0; r < graph.relations.size(); ++r)
        if (schema.relations[r].target == t &&
            reaches_out(graph.relations[r], i, part_of_type(schema.relations[r].source), me))
          return true;
      return false;
    };
    std::vector<int64_t> owned;
    for (int64_t i = 0; i < graph.num_nodes[t]; ++i)
      if (part_of_type(t)[i] == me) owned.push_back(i);
    std::stable_partition(owned.begin(), owned.end(), [&](int64_t i) { return !is_boundary(i); });
    out.graph.num_nodes.push_back(std::ssize(owned));
    out.nodes.push_back(std::move(owned));
  }
  for (size_t r = 0; r < graph.relations.size(); ++r) {
    const auto& joined = schema.relations[r];
    out.graph.relations.push_back(
        cut_relation(graph.relations[r], {part_of_type(joined.target), out.nodes[joined.target]},
                     {part_of_type(joined.source), out.nodes[joined.source]},
                     joined.source == joined.target, parts, me));
  }
  return out;
}

}  // namespace egc
