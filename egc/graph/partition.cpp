#include "egc/graph/partition.h"

#include <metis.h>

#include <algorithm>
#include <limits>

#include "egc/core/error.h"

namespace egc {
namespace {

// Both directions of every edge, each once, without loops: what METIS reads.
struct Adjacency {
  std::vector<idx_t> offsets = {0};
  std::vector<idx_t> neighbours;
};

Adjacency undirected(const Csr& graph) {
  const Csr& back = graph.transposed();
  const int64_t most = 2 * graph.num_edges() + graph.num_targets();  // the weights' sum, too
  check(most <= std::numeric_limits<idx_t>::max(),
        "partition: METIS holds at most {} edges in both directions, got {}; \"egc data partition "
        "--method ranges\" has no such limit",
        std::numeric_limits<idx_t>::max(), most);
  Adjacency out;
  std::vector<int32_t> near;
  for (int64_t i = 0; i < graph.num_targets(); ++i) {
    near.clear();
    for (const Csr* g : {&graph, &back})
      near.insert(near.end(), g->sources().begin() + g->offsets()[i],
                  g->sources().begin() + g->offsets()[i + 1]);
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    for (const int32_t j : near)
      if (j != i) out.neighbours.push_back(j);
    out.offsets.push_back(static_cast<idx_t>(out.neighbours.size()));
  }
  return out;
}

std::vector<int32_t> by_metis(const Csr& graph, int64_t parts) {
  Adjacency adjacency = undirected(graph);
  auto nodes = static_cast<idx_t>(graph.num_targets());
  auto wanted = static_cast<idx_t>(parts);
  // Memory goes with the nodes, time with nodes and edges: both are balanced.
  idx_t constraints = 2;
  std::vector<idx_t> weights;
  for (idx_t i = 0; i < nodes; ++i) {
    weights.push_back(1);
    weights.push_back(1 + adjacency.offsets[i + 1] - adjacency.offsets[i]);
  }
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 0;
  idx_t cut = 0;
  std::vector<idx_t> part_of(static_cast<size_t>(nodes));
  const int result = METIS_PartGraphKway(
      &nodes, &constraints, adjacency.offsets.data(), adjacency.neighbours.data(), weights.data(),
      nullptr, nullptr, &wanted, nullptr, nullptr, options, &cut, part_of.data());
  if (result != METIS_OK)
    fail(ErrorKind::kSystem, "partition: METIS could not cut {} nodes into {} parts (error {})",
         nodes, parts, result);
  return {part_of.begin(), part_of.end()};
}

std::vector<int32_t> by_ranges(int64_t nodes, int64_t parts) {
  std::vector<int32_t> part_of(static_cast<size_t>(nodes));
  for (int64_t i = 0; i < nodes; ++i) part_of[i] = static_cast<int32_t>(i * parts / nodes);
  return part_of;
}

// METIS may leave a part of a small graph empty; no process can do without nodes. Those that have
// none get one of the largest's.
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

void sort_unique(std::vector<int64_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// Sources that edges between parts begin at, by the other part.
struct Borders {
  std::vector<std::vector<int64_t>> received;  // of others, by owner
  std::vector<std::vector<int64_t>> sent;      // own, by who needs them
};

Borders borders_of(const Csr& whole, std::span<const int32_t> part_of, int64_t parts, int32_t me) {
  Borders out{std::vector<std::vector<int64_t>>(static_cast<size_t>(parts)),
              std::vector<std::vector<int64_t>>(static_cast<size_t>(parts))};
  for (int64_t i = 0; i < whole.num_targets(); ++i)
    for (int64_t e = whole.offsets()[i]; e < whole.offsets()[i + 1]; ++e) {
      const int32_t j = whole.sources()[e];
      if (part_of[i] == part_of[j]) continue;
      if (part_of[i] == me) out.received[part_of[j]].push_back(j);
      if (part_of[j] == me) out.sent[part_of[i]].push_back(j);
    }
  for (auto* lists : {&out.received, &out.sent})
    for (auto& ids : *lists) sort_unique(ids);
  return out;
}

}  // namespace

const NamedTable<PartitionMethod>& partition_methods() {
  static const NamedTable<PartitionMethod> table(
      "partition method",
      {{"metis", PartitionMethod::kMetis}, {"ranges", PartitionMethod::kRanges}});
  return table;
}

std::vector<int32_t> partition(const Csr& graph, int64_t parts, PartitionMethod method) {
  const int64_t nodes = graph.num_targets();
  check(graph.is_square(), "partition: the graph must be square, got {} targets and {} sources",
        nodes, graph.num_sources());
  check(parts >= 1 && parts <= nodes, "partition: parts must be from 1 to the {} nodes, got {}",
        nodes, parts);
  if (method == PartitionMethod::kMetis && parts > 1) {
    std::vector<int32_t> part_of = by_metis(graph, parts);
    fill_empty_parts(part_of, parts);
    return part_of;
  }
  return by_ranges(nodes, parts);
}

GraphPart cut_part(const Csr& whole, std::span<const int32_t> part_of, int64_t parts,
                   int64_t part) {
  const auto me = static_cast<int32_t>(part);
  const auto offsets = whole.offsets();
  const auto sources = whole.sources();
  const auto reaches_out = [&](int64_t i) {
    return std::any_of(sources.begin() + offsets[i], sources.begin() + offsets[i + 1],
                       [&](int32_t j) { return part_of[j] != me; });
  };
  GraphPart out;
  std::vector<int64_t> boundary;
  for (int64_t i = 0; i < whole.num_targets(); ++i)
    if (part_of[i] == me) (reaches_out(i) ? boundary : out.nodes).push_back(i);
  auto halo = std::make_shared<Halo>();
  halo->interior = std::ssize(out.nodes);
  out.nodes.insert(out.nodes.end(), boundary.begin(), boundary.end());
  halo->owned = std::ssize(out.nodes);
  halo->rows_are_sources = true;

  const Borders borders = borders_of(whole, part_of, parts, me);
  std::vector<int64_t> source_nodes = out.nodes;
  for (const auto& ids : borders.received) {
    halo->num_received.push_back(std::ssize(ids));
    source_nodes.insert(source_nodes.end(), ids.begin(), ids.end());
  }
  std::vector<int32_t> local(static_cast<size_t>(whole.num_sources()), -1);
  for (size_t k = 0; k < source_nodes.size(); ++k) local[source_nodes[k]] = static_cast<int32_t>(k);
  for (const auto& ids : borders.sent) {
    halo->num_sent.push_back(std::ssize(ids));
    for (const int64_t id : ids) halo->sent.push_back(local[id]);
  }
  for (const bool add_loops : {false, true}) {
    const std::vector<double> degree = whole.degrees(add_loops);
    for (const int64_t id : source_nodes) halo->degree[add_loops].push_back(degree[id]);
  }

  std::vector<int64_t> part_offsets = {0};
  std::vector<int32_t> part_sources;
  std::vector<float> part_weights;
  std::vector<std::pair<int32_t, float>> row;
  for (const int64_t i : out.nodes) {
    row.clear();
    for (int64_t e = offsets[i]; e < offsets[i + 1]; ++e)
      row.emplace_back(local[sources[e]], whole.weights().empty() ? 1.0F : whole.weights()[e]);
    std::sort(row.begin(), row.end());
    for (const auto& [source, weight] : row) {
      part_sources.push_back(source);
      if (!whole.weights().empty()) part_weights.push_back(weight);
    }
    part_offsets.push_back(std::ssize(part_sources));
  }
  out.graph = Csr(std::ssize(out.nodes), std::ssize(source_nodes), std::move(part_offsets),
                  std::move(part_sources), std::move(part_weights), std::move(halo));
  return out;
}

}  // namespace egc
