// Some of a dataset's graphs as a dataset of their own.
#pragma once

#include "egc/data/dataset.h"

namespace egc::data {

// Graphs [first, first + count), without splits; features and edges are shared, not copied. The
// dataset must have homogeneous graphs.
Dataset slice(const Dataset& dataset, int64_t first, int64_t count);

}  // namespace egc::data
