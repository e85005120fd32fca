// Where the time of training goes: passes over graphs and rows, dense products; what remains is
// everything else. Counted in the thread that starts the work, always on: two readings of a clock
// cost nothing beside a pass.
#pragma once

#include <chrono>

namespace egc {

enum class Work { kKernels, kGemm };

// Seconds since the process began.
double seconds_of(Work work);

class WorkTimer {
 public:
  explicit WorkTimer(Work work) : work_(work), begin_(std::chrono::steady_clock::now()) {}
  ~WorkTimer();
  WorkTimer(const WorkTimer&) = delete;
  WorkTimer& operator=(const WorkTimer&) = delete;

 private:
  Work work_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace egc
