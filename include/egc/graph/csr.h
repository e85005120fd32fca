// The owning graph: compressed sparse rows by target, immutable, with what is derived from it
// computed once on demand. Copies share everything.
//
// from_edges sorts rows by source (duplicates kept, then by weight), so the same edges give the
// same graph, and the same bits of every result, in whatever order they came.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "egc/graph/halo.h"
#include "egc/graph/source_blocks.h"
#include "egc/kernels/csr_view.h"

namespace egc {

class Csr {
 public:
  Csr() : Csr(0, {0}, {}) {}

  // With one number of nodes, edges lead from nodes to the same nodes: row i is the node of source
  // i, which layers and self-loops need. With two they lead to other nodes, even if those are as
  // many; a part of a larger graph comes with its halo, which says what its rows are.

  // From finished arrays, checked: offsets rise from 0 to the number of edges, sources are in
  // range. Rows keep the order they have. weights: one per edge, or empty.
  Csr(int64_t num_nodes, std::vector<int64_t> offsets, std::vector<int32_t> sources,
      std::vector<float> weights = {});
  Csr(int64_t num_targets, int64_t num_sources, std::vector<int64_t> offsets,
      std::vector<int32_t> sources, std::vector<float> weights = {},
      std::shared_ptr<const Halo> halo = nullptr);

  // From an edge list source[k] -> target[k]. Ids are range-checked; the error names the first bad
  // edge.
  static Csr from_edges(int64_t num_nodes, std::span<const int64_t> source,
                        std::span<const int64_t> target, std::span<const float> weights = {});
  static Csr from_edges(int64_t num_targets, int64_t num_sources, std::span<const int64_t> source,
                        std::span<const int64_t> target, std::span<const float> weights = {});

  int64_t num_targets() const;
  int64_t num_sources() const;
  int64_t num_edges() const;
  int64_t num_own_sources() const {  // without those of other parts
    return halo() != nullptr ? halo()->owned : num_sources();
  }
  const Halo* halo() const;       // null: all of a graph
  bool rows_are_sources() const;  // row i is the node of source i
  bool is_square() const { return rows_are_sources() && num_targets() == num_sources(); }
  std::span<const int64_t> offsets() const;
  std::span<const int32_t> sources() const;
  std::span<const float> weights() const;  // empty without weights
  CsrView view() const;

  // The same edges by source: row j lists the targets of j. The graph itself where it is symmetric.
  const Csr& transposed() const;

  // Whether some edge leads from a node to itself.
  bool has_loops() const;

  // In-edges of every node, or the sum of their weights; with `add_loops`, loops of the graph are
  // replaced by one of weight 1. Sources that are no rows have the number of their out-edges; a
  // part of a graph what it has in the whole.
  std::vector<double> source_degrees(bool add_loops) const;

  // 1/sqrt(deg) of every target, and of every source; 0 where deg (as above) is not positive.
  template <class T>
  const std::vector<T>& target_scale(bool add_loops) const;
  template <class T>
  const std::vector<T>& source_scale(bool add_loops) const;

  // Row ranges of about equal work (edges plus rows); they depend on the graph alone, never on the
  // number of threads.
  const std::vector<RowRange>& row_ranges() const;

  // The rows cut by source, where the graph is dense.
  const SourceBlocks& source_blocks() const;

 private:
  struct Data;
  Csr(int64_t num_targets, int64_t num_sources, bool rows_are_sources, std::vector<int64_t> offsets,
      std::vector<int32_t> sources, std::vector<float> weights, std::shared_ptr<const Halo> halo);
  static Csr from_edges(int64_t num_targets, int64_t num_sources, bool rows_are_sources,
                        std::span<const int64_t> source, std::span<const int64_t> target,
                        std::span<const float> weights);
  std::shared_ptr<Data> data_;
};

}  // namespace egc
