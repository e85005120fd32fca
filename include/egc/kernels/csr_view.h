// A borrowed graph: compressed sparse rows by target. Row i lists the sources of its in-edges.
#pragma once

#include <cstdint>

namespace egc {

// Pointers to a graph in CSR form, without ownership; see egc::Csr for the owning class.
struct CsrView {
  int64_t num_targets = 0;           // number of rows
  int64_t num_sources = 0;           // sources are in [0, num_sources)
  const int64_t* offsets = nullptr;  // [num_targets + 1], where each row begins in `sources`
  const int32_t* sources = nullptr;  // [num_edges]
  const float* weights = nullptr;    // [num_edges], or null: every weight is 1

  // Number of edges.
  int64_t num_edges() const { return num_targets == 0 ? 0 : offsets[num_targets]; }
};

// Where the rows of a dense graph are cut into blocks of neighbouring sources. A kernel visits all
// rows of a call block by block, so that the rows it gathers stay in the second-level cache. Used
// for float32 without edge weights.
struct SourceBlocksView {
  int64_t count = 0;  // number of blocks; 0: rows are not cut
  // [count + 1, num_targets]: where a block begins within the row.
  const int32_t* begin = nullptr;
};

// Columns of a pass over blocks: wide enough to hide the latency of additions, narrow enough for a
// block to have many rows.
inline constexpr int64_t kBlockedColumns = 64;
// Maximum number of rows of a call over blocks: their accumulators leave room in the cache, and a
// block is still used often enough to be worth loading.
inline constexpr int64_t kBlockedRows = 1024;

// A contiguous range of rows (targets): the unit of work of a kernel call.
struct RowRange {
  int64_t begin = 0;  // first row
  int64_t end = 0;    // one past the last row
};

}  // namespace egc
