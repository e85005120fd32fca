// The paper's table of aggregator fusion (H = B = 1, three aggregators).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "egc/bench/measure.h"

namespace egc::bench {

struct FusionResult {
  int64_t nodes = 0;
  int64_t edges = 0;
  int64_t features = 0;
  // matmul, spmm, naive, reordered, fused, row_walk, copy
  std::vector<std::pair<std::string, Timing>> methods;
};

// scale: shrinks the graph, in (0, 1].
FusionResult measure_fusion(const std::string& topology, int64_t features, double scale, int reps,
                            uint64_t seed);

}  // namespace egc::bench
