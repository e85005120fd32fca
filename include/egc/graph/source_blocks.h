// Rows of a dense graph cut into blocks of neighbouring sources. While a pass stays within a block,
// the rows that it gathers stay in the second-level cache.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/kernels/csr_view.h"

namespace egc {

// Where each row is cut.
struct SourceBlocks {
  int64_t count = 0;           // number of blocks; 0: rows are not cut
  std::vector<int32_t> begin;  // [count + 1, num_targets], positions within the row

  SourceBlocksView view() const { return {count, begin.data()}; }  // pointers for kernels
};

// Whether rows have enough edges for blocks to pay off: accumulators must be stored between two
// visits of a row.
bool is_dense(int64_t num_targets, int64_t num_sources, int64_t num_edges);

// Cuts a graph; no blocks if it is not dense or its rows are not sorted by source.
SourceBlocks cut_by_source(const CsrView& graph);

}  // namespace egc
