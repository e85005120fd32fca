// When to help the caches, and when to go around them. Measured thresholds, in one place.
#pragma once

#include <cstdint>
#include <vector>

#include "egc/graph/csr.h"
#include "egc/graph/row_split.h"

namespace egc {

// Software prefetching pays once the gathered matrix has outgrown the second-level cache.
inline bool worth_prefetching(int64_t gathered_bytes) { return gathered_bytes > (1 << 20); }

// Streaming stores save reading the output before writing it, but push it out of the caches: only
// for outputs that would not stay there anyway.
inline bool worth_streaming(int64_t output_bytes) { return output_bytes > (32 << 20); }

inline bool is_line_multiple(uint64_t bytes) { return bytes % 64 == 0; }

// The blocks of sources that a pass over a slice goes by, and the rows of its tasks.
struct Passes {
  SourceBlocksView blocks;
  std::vector<RowRange> rows;
};

template <class T>
Passes plan_passes(const Csr& graph, int64_t slice_columns) {
  if (sizeof(T) == sizeof(float) && slice_columns == kBlockedColumns && graph.weights().empty())
    if (const SourceBlocksView blocks = graph.source_blocks().view(); blocks.count > 0)
      return {blocks, split_evenly(graph.num_targets(), kBlockedRows)};
  return {{}, graph.row_ranges()};
}

}  // namespace egc
