// Cuts the rows of a graph into ranges of about equal work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/kernels/csr_view.h"

namespace egc {

// At most `parts` ranges that cover all rows in order; a row weighs its edges plus one.
std::vector<RowRange> split_rows(std::span<const int64_t> offsets, int64_t parts);

// As few ranges of at most `rows_per_range` rows as possible, of equal size up to one row: for work
// that does not depend on the edges. A short last range would leave threads idle.
std::vector<RowRange> split_evenly(int64_t rows, int64_t rows_per_range);

}  // namespace egc
