// Dense graphs, cut for the second-level cache: the edges of every row, by blocks of neighbouring
// sources. While a pass stays within a block, the rows it gathers stay in that cache.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/kernels/csr_view.h"

namespace egc {

struct SourceBlocks {
  int64_t count = 0;           // 0: no blocks, take rows whole
  std::vector<int32_t> begin;  // [count + 1, num_targets]

  SourceBlocksView view() const { return {count, begin.data()}; }
};

// Whether rows have so many edges that a visit of a row to a block pays for keeping its
// accumulators in memory between two visits.
bool is_dense(int64_t num_targets, int64_t num_sources, int64_t num_edges);

// No blocks where the graph is not dense or its rows are not sorted by source.
SourceBlocks cut_by_source(const CsrView& graph);

}  // namespace egc
