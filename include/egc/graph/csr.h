// The graph that layers take: compressed sparse rows by target.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "egc/graph/edge_features.h"
#include "egc/graph/halo.h"
#include "egc/graph/source_blocks.h"
#include "egc/kernels/csr_view.h"

namespace egc {

// An immutable graph: row i lists the sources of the edges to target i, with optional edge weights
// and edge features.
// Copies share memory. Transpose and degrees are computed on first use and kept.
//
// A graph made with one number of nodes has edges among the same nodes: row i belongs to source i,
// as layers and self-loops need it. A graph made with num_targets and num_sources has edges from
// one set of nodes to another, even if both have the same size.
//
// from_edges sorts each row by source (duplicates are kept), so the order of the edge list does not
// affect the graph or any result.
class Csr {
 public:
  // A graph without nodes.
  Csr() : Csr(0, {0}, {}) {}

  // From arrays in CSR form; rows keep their order. offsets: [num_nodes + 1], sources: [E],
  // weights: [E] or empty, features: of each edge or none. Throws kData unless offsets rise from 0
  // to E and sources are in range.
  Csr(int64_t num_nodes, std::vector<int64_t> offsets, std::vector<int32_t> sources,
      std::vector<float> weights = {}, EdgeFeatures features = {});
  // As above, between two sets of nodes. The graph of a partition comes with its halo.
  Csr(int64_t num_targets, int64_t num_sources, std::vector<int64_t> offsets,
      std::vector<int32_t> sources, std::vector<float> weights = {},
      const std::shared_ptr<const Halo>& halo = nullptr, EdgeFeatures features = {});

  // From a list of edges source[k] -> target[k]; weights and features as above. Throws kData with
  // the first edge that is out of range.
  static Csr from_edges(int64_t num_nodes, std::span<const int64_t> source,
                        std::span<const int64_t> target, std::span<const float> weights = {},
                        const EdgeFeatures& features = {});
  // As above, between two sets of nodes.
  static Csr from_edges(int64_t num_targets, int64_t num_sources, std::span<const int64_t> source,
                        std::span<const int64_t> target, std::span<const float> weights = {},
                        const EdgeFeatures& features = {});

  int64_t num_targets() const;  // number of rows
  int64_t num_sources() const;  // sources are in [0, num_sources)
  int64_t num_edges() const;    // number of edges
  // Sources without those of other partitions.
  int64_t num_own_sources() const { return halo() != nullptr ? halo()->owned : num_sources(); }
  const Halo* halo() const;       // of a partition; null for a complete graph
  bool rows_are_sources() const;  // whether row i is the node of source i
  // Whether targets and sources are the same nodes.
  bool is_square() const { return rows_are_sources() && num_targets() == num_sources(); }
  std::span<const int64_t> offsets() const;   // [num_targets + 1]
  std::span<const int32_t> sources() const;   // [num_edges], by row
  std::span<const float> weights() const;     // [num_edges], or empty
  const EdgeFeatures& edge_features() const;  // of the edges by row, or none
  // The numbers of the edges [num_edges, columns] in either precision, converted on first use.
  template <class T>
  std::span<const T> edge_values() const;
  CsrView view() const;  // pointers for kernels, valid while the graph lives

  // The same edges by source: row j lists the targets of j. A symmetric graph returns itself.
  const Csr& transposed() const;

  // Whether the graph has a self-loop.
  bool has_loops() const;

  // In-degree of every node, or the sum of its in-edges' weights; with `add_loops`, one self-loop
  // of weight 1 replaces those of the graph. If rows are not sources: the out-degree. In a
  // partition: the degree in the complete graph.
  std::vector<double> source_degrees(bool add_loops) const;

  // 1/sqrt(deg) of every target, deg as in source_degrees(); 0 where deg is not positive.
  template <class T>
  const std::vector<T>& target_scale(bool add_loops) const;
  // 1/sqrt(deg) of every source.
  template <class T>
  const std::vector<T>& source_scale(bool add_loops) const;

  // Row ranges of about equal work (edges plus rows). They depend on the graph only, not on the
  // number of threads.
  const std::vector<RowRange>& row_ranges() const;

  // The rows cut by source (graph/source_blocks.h); no blocks unless the graph is dense.
  const SourceBlocks& source_blocks() const;

 private:
  struct Data;
  Csr(int64_t num_targets, int64_t num_sources, bool rows_are_sources, std::vector<int64_t> offsets,
      std::vector<int32_t> sources, std::vector<float> weights, std::shared_ptr<const Halo> halo,
      EdgeFeatures features);
  static Csr from_edges(int64_t num_targets, int64_t num_sources, bool rows_are_sources,
                        std::span<const int64_t> source, std::span<const int64_t> target,
                        std::span<const float> weights, const EdgeFeatures& features);
  std::shared_ptr<Data> data_;
};

}  // namespace egc
