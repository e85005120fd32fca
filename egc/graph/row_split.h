// Cuts the rows of a graph into ranges of about equal work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/kernels/csr_view.h"

namespace egc {

// At most `parts` ranges that cover all rows in order; a row weighs its edges plus one.
std::vector<RowRange> split_rows(std::span<const int64_t> offsets, int64_t parts);

// Equal row counts: for work that does not depend on the edges.
std::vector<RowRange> split_evenly(int64_t rows, int64_t rows_per_range);

}  // namespace egc
