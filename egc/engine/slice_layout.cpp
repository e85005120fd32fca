#include "egc/engine/slice_layout.h"

#include <cmath>
#include <numeric>

namespace egc {

SliceLayout choose_slices(const Csr& graph, int64_t bases, int64_t head_width,
                          int64_t element_size) {
  constexpr int64_t kCacheBytes = 4 << 20;  // about a second-level cache
  constexpr int64_t kMinDegree = 4;
  constexpr int64_t kLine = 64;
  constexpr int64_t kRowBytes = 8 * kLine;
  SliceLayout layout = SliceLayout::row_major(bases, head_width);
  if (graph.halo() != nullptr) return layout;  // processes exchange whole rows
  const int64_t row_bytes = bases * head_width * element_size;
  if (graph.num_sources() * row_bytes < kCacheBytes ||
      graph.num_edges() < kMinDegree * graph.num_sources())
    return layout;
  if (element_size == sizeof(float) && kBlockedColumns % bases == 0 &&
      is_dense(graph.num_targets(), graph.num_sources(), graph.num_edges())) {
    layout.slice_width = std::min(head_width, kBlockedColumns / bases);
    return layout;
  }
  const int64_t slices = std::max<int64_t>(1, (row_bytes + kRowBytes / 2) / kRowBytes);
  // Rows of whole cache lines: as many columns of each basis as make bases * width fill lines.
  const int64_t per_line = kLine / element_size;
  const int64_t unit = per_line / std::gcd(per_line, bases);
  const int64_t even = (head_width + slices - 1) / slices;
  layout.slice_width = std::min(head_width, (even + unit - 1) / unit * unit);
  return layout;
}

}  // namespace egc
