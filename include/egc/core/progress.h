// How far something long has come.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace egc {

// Called with what is done of a total; the total is 0 where it is not known.
using OnProgress = std::function<void(int64_t done, int64_t total)>;

// Counts what several threads do, and calls back from one of them at a time.
class ProgressCounter {
 public:
  // `on_progress` may be empty.
  ProgressCounter(OnProgress on_progress, int64_t total)
      : on_progress_(std::move(on_progress)), total_(total) {}

  // Counts `more` and calls back.
  void add(int64_t more) {
    if (!on_progress_) return;
    const std::lock_guard lock(mutex_);
    on_progress_(done_ += more, total_);
  }

 private:
  OnProgress on_progress_;
  int64_t total_;
  int64_t done_ = 0;
  std::mutex mutex_;
};

}  // namespace egc
