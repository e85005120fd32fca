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

TEST(Partition, PartsAgreeOnWhatTheyExchange) {
  Rng rng(3);
  std::vector<int64_t> source, target;
  for (int e = 0; e < 400; ++e) {
    source.push_back(rng.below(90));
    target.push_back(rng.below(90));
  }
  const Csr graph = Csr::from_edges(90, source, target);
  constexpr int64_t kParts = 4;
  const std::vector<int32_t> part_of = partition(graph, kParts, PartitionMethod::kMetis);
  std::vector<GraphPart> parts;
  for (int64_t k = 0; k < kParts; ++k) parts.push_back(cut_part(graph, part_of, kParts, k));
  std::vector<int64_t> nodes;
  int64_t edges = 0;
  for (int64_t k = 0; k < kParts; ++k) {
    const GraphPart& p = parts[k];
    const Halo& h = *p.graph.halo();
    nodes.insert(nodes.end(), p.nodes.begin(), p.nodes.end());
    edges += p.graph.num_edges();
    for (int64_t i = 0; i < p.graph.num_targets(); ++i) {
      bool inside = true;
      for (int64_t e = p.graph.offsets()[i]; e < p.graph.offsets()[i + 1]; ++e)
        inside = inside && p.graph.sources()[e] < h.owned;
      EXPECT_EQ(inside, i < h.interior) << k << " " << i;
    }
    int64_t sent = 0;
    for (int64_t r = 0; r < kParts; ++r) {
      EXPECT_EQ(h.num_sent[r], parts[r].graph.halo()->num_received[k]);
      sent += h.num_sent[r];
    }
    EXPECT_EQ(sent, std::ssize(h.sent));
    EXPECT_EQ(h.num_sent[k], 0);
  }
  EXPECT_EQ(edges, graph.num_edges());
  std::sort(nodes.begin(), nodes.end());
  for (int64_t i = 0; i < 90; ++i) EXPECT_EQ(nodes[i], i);
}

}  // namespace
}  // namespace egc
