// A borrowed graph: compressed sparse rows by target. Row i lists the sources of its in-edges.
#pragma once

#include <cstdint>

namespace egc {

struct CsrView {
  int64_t num_targets = 0;
  int64_t num_sources = 0;
  const int64_t* offsets = nullptr;  // [num_targets + 1]
  const int32_t* sources = nullptr;  // [offsets[num_targets]]
  const float* weights = nullptr;    // one per edge, or null: every edge weighs 1

  int64_t num_edges() const { return num_targets == 0 ? 0 : offsets[num_targets]; }
};

// A graph whose rows are cut by blocks of neighbouring sources. A kernel that gets one goes block
// after block, and within each over all rows of the call: the rows of a block are gathered from the
// second-level cache. That is for floats without weights of edges.
struct SourceBlocksView {
  int64_t count = 0;               // 0: not cut
  const int32_t* begin = nullptr;  // [count + 1, num_targets]: where a block begins within the row
};

// Columns of such a pass: wide enough to hide the latency of adding, narrow enough for a block to
// have many rows.
inline constexpr int64_t kBlockedColumns = 64;
// Most rows of a call: few enough for their accumulators to leave room in the cache, enough for a
// block to be worth fetching.
inline constexpr int64_t kBlockedRows = 1024;

// A contiguous range of rows (targets), the unit of work that a kernel call gets.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
};

}  // namespace egc
