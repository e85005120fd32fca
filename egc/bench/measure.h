// Fair timing on a noisy machine: contestants take turns, the median speaks, the spread is shown.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace egc::bench {

struct Contestant {
  std::string name;
  std::function<void()> run;
};

struct Timing {
  double median_ms = 0;
  double min_ms = 0;
  double p90_ms = 0;
  int reps = 0;
};

// One unmeasured round, then `reps` rounds in each of which every contestant runs once, in turn.
// `warm`: each measured run comes right after an unmeasured one, for contestants whose buffers
// differ in size and would otherwise pay for each other's.
std::vector<Timing> measure(const std::vector<Contestant>& contestants, int reps,
                            bool warm = false);

// Growth of the resident set at its peak while `run` runs, in megabytes (10^6 bytes).
double peak_extra_mb(const std::function<void()>& run);

}  // namespace egc::bench
