// Edges of undirected graphs have one weight, however often and in whichever direction they are
// stored. No rule would suit distances, counts and strengths alike, so different weights are
// errors.
#pragma once

#include <cstdint>
#include <optional>

#include "egc/data/dataset.h"

namespace egc::data {

// Two stored edges that join the same nodes of a graph with different weights.
struct WeightConflict {
  int64_t first = 0;
  int64_t second = 0;  // the later one
};

// Of an undirected dataset with weights: the conflict whose later edge comes first.
std::optional<WeightConflict> find_weight_conflict(const Dataset& dataset, bool undirected);

}  // namespace egc::data
