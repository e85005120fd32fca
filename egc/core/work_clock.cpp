#include "egc/core/work_clock.h"

#include <atomic>
#include <cstdint>

namespace egc {
namespace {

std::atomic<int64_t> nanoseconds[2];

std::atomic<int64_t>& of(Work work) { return nanoseconds[static_cast<int>(work)]; }

}  // namespace

double seconds_of(Work work) { return 1e-9 * static_cast<double>(of(work).load()); }

WorkTimer::~WorkTimer() {
  const auto spent = std::chrono::steady_clock::now() - begin_;
  of(work_) += std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
}

}  // namespace egc
