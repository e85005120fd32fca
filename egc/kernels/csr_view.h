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

// A contiguous range of rows (targets), the unit of work that a kernel call gets.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
};

}  // namespace egc
