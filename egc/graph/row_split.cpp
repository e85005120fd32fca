#include "egc/graph/row_split.h"

#include <algorithm>

#include "egc/core/error.h"

namespace egc {

std::vector<RowRange> split_rows(std::span<const int64_t> offsets, int64_t parts) {
  check(parts >= 1, "split_rows: parts must be at least 1, got {}", parts);
  std::vector<RowRange> ranges;
  const auto rows = static_cast<int64_t>(offsets.size()) - 1;
  if (rows <= 0) return ranges;
  const int64_t work = offsets[rows] - offsets[0] + rows;
  int64_t begin = 0;
  for (int64_t part = 1; part <= parts && begin < rows; ++part) {
    // work * part may pass 2^63 only for graphs that no machine holds
    const int64_t goal = part == parts ? work : work / parts * part + work % parts * part / parts;
    int64_t low = begin;
    int64_t high = rows;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (offsets[middle] - offsets[0] + middle < goal)
        low = middle + 1;
      else
        high = middle;
    }
    if (low > begin) ranges.push_back({begin, low});
    begin = low;
  }
  return ranges;
}

std::vector<RowRange> split_evenly(int64_t rows, int64_t rows_per_range) {
  check(rows_per_range >= 1, "split_evenly: a range must have at least 1 row, got {}",
        rows_per_range);
  std::vector<RowRange> ranges;
  const int64_t count = (rows + rows_per_range - 1) / rows_per_range;
  for (int64_t k = 0; k < count; ++k) ranges.push_back({rows * k / count, rows * (k + 1) / count});
  return ranges;
}

}  // namespace egc
