#include "egc/graph/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "egc/core/rng.h"

namespace egc {
namespace {

// Groups of neighbours, whose ids are far apart.
Csr groups(int64_t count, int64_t size) {
  std::vector<int64_t> source, target;
  for (int64_t g = 0; g < count; ++g)
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < size; ++j) {
        source.push_back(i * count + g);
        target.push_back(j * count + g);
      }
  return Csr::from_edges(count * size, source, target);
}

// Edges whose ends are in different parts.
int64_t edge_cut(const Csr& graph, const std::vector<int32_t>& part_of) {
  int64_t cut = 0;
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      cut += part_of[i] != part_of[graph.sources()[e]] ? 1 : 0;
  return cut;
}

std::vector<int32_t> partition(const Csr& graph, int64_t parts, PartitionMethod method) {
  return egc::partition(HeteroSchema::homogeneous(), HeteroGraph::homogeneous(graph), parts,
                        method);
}

TEST(Partition, MetisFindsTheGroups) {
  const Csr graph = groups(4, 20);
  EXPECT_EQ(edge_cut(graph, partition(graph, 4, PartitionMethod::kMetis)), 0);
  EXPECT_GT(edge_cut(graph, partition(graph, 4, PartitionMethod::kRanges)), 1000);
}

TEST(Partition, GivesTheSameTwiceAndLeavesNobodyEmpty) {
  const Csr graph = groups(3, 7);
  for (const PartitionMethod method : {PartitionMethod::kMetis, PartitionMethod::kRanges})
    for (const int64_t parts : {1, 2, 5, 20, 21}) {
      const std::vector<int32_t> part_of = partition(graph, parts, method);
      EXPECT_EQ(part_of, partition(graph, parts, method));
      EXPECT_EQ(std::ssize(std::set<int32_t>(part_of.begin(), part_of.end())), parts);
    }
  EXPECT_THROW(partition(graph, 22, PartitionMethod::kMetis), Error);
  EXPECT_THROW(partition(graph, 0, PartitionMethod::kRanges), Error);
}

// Two types of nodes, of the second fewer than parts; one relation within a type, two between them.
const HeteroSchema kSchema{{"paper", "field"}, {{"cites", 0, 0}, {"of", 0, 1}, {"has", 1, 0}}};

HeteroGraph typed_graph() {
  Rng rng(3);
  const std::vector<int64_t> nodes = {90, 3};
  HeteroGraph out{nodes, {}};
  for (const auto& r : kSchema.relations) {
    std::vector<int64_t> source, target;
    for (int e = 0; e < 200; ++e) {
      source.push_back(rng.below(static_cast<uint32_t>(nodes[r.source])));
      target.push_back(rng.below(static_cast<uint32_t>(nodes[r.target])));
    }
    out.relations.push_back(relation_from_edges(r, nodes, source, target));
  }
  return out;
}

TEST(Partition, PartsAgreeOnWhatTheyExchange) {
  const HeteroGraph graph = typed_graph();
  constexpr int64_t kParts = 4;
  int64_t interior = 0;
  for (const PartitionMethod method : {PartitionMethod::kMetis, PartitionMethod::kRanges}) {
    const std::vector<int32_t> part_of = partition(kSchema, graph, kParts, method);
    std::vector<GraphPart> parts;
    for (int64_t k = 0; k < kParts; ++k)
      parts.push_back(cut_part(kSchema, graph, part_of, kParts, k));
    for (size_t t = 0; t < graph.num_nodes.size(); ++t) {
      std::vector<int64_t> nodes;
      for (const GraphPart& p : parts)
        nodes.insert(nodes.end(), p.nodes[t].begin(), p.nodes[t].end());
      std::sort(nodes.begin(), nodes.end());
      ASSERT_EQ(std::ssize(nodes), graph.num_nodes[t]);
      for (int64_t i = 0; i < graph.num_nodes[t]; ++i) EXPECT_EQ(nodes[i], i);
    }
    for (size_t r = 0; r < graph.relations.size(); ++r) {
      int64_t edges = 0;
      for (int64_t k = 0; k < kParts; ++k) {
        const Csr& relation = parts[k].graph.relations[r];
        const Halo& h = *relation.halo();
        EXPECT_EQ(h.rows_are_sources, r == 0);
        if (method == PartitionMethod::kMetis) interior += h.interior;
        EXPECT_EQ(h.owned, std::ssize(parts[k].nodes[kSchema.relations[r].source]));
        edges += relation.num_edges();
        for (int64_t i = 0; i < h.interior; ++i)
          for (int64_t e = relation.offsets()[i]; e < relation.offsets()[i + 1]; ++e)
            EXPECT_LT(relation.sources()[e], h.owned) << r << " " << k << " " << i;
        int64_t sent = 0;
        for (int64_t other = 0; other < kParts; ++other) {
          EXPECT_EQ(h.num_sent[other], parts[other].graph.relations[r].halo()->num_received[k]);
          sent += h.num_sent[other];
        }
        EXPECT_EQ(sent, std::ssize(h.sent));
        EXPECT_EQ(h.num_sent[k], 0);
      }
      EXPECT_EQ(edges, graph.relations[r].num_edges());
    }
  }
  EXPECT_GT(interior, 0);
}

// Rows that need nobody come first, so that they can be worked on while others' are on their way.
TEST(Partition, InteriorRowsComeFirst) {
  const HeteroSchema schema = HeteroSchema::homogeneous();
  const HeteroGraph graph = HeteroGraph::homogeneous(typed_graph().relations[0]);
  const std::vector<int32_t> part_of = partition(schema, graph, 3, PartitionMethod::kMetis);
  for (int64_t k = 0; k < 3; ++k) {
    const GraphPart part = cut_part(schema, graph, part_of, 3, k);
    const Csr& rows = part.graph.relations[0];
    EXPECT_GT(rows.halo()->interior, 0);
    for (int64_t i = 0; i < rows.num_targets(); ++i) {
      bool inside = true;
      for (int64_t e = rows.offsets()[i]; e < rows.offsets()[i + 1]; ++e)
        inside = inside && rows.sources()[e] < rows.halo()->owned;
      EXPECT_EQ(inside, i < rows.halo()->interior) << k << " " << i;
    }
  }
}

}  // namespace
}  // namespace egc
