// Prefetching: a background thread that produces items ahead of their use, such as batches for
// training or decompressed blocks for a parser.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "egc/core/parallel.h"

namespace egc {

// A queue of items that a background thread fills.
template <class T>
class Producer {
 public:
  // How many threads `make` may use for its own parallel_tasks(): one, which leaves the others to
  // the consumer, or all that are free, for work that takes as long as the consumer's.
  enum class Threads { kOne, kFree };
  // Starts the thread. `make` returns the next item, or nothing at the end; at most `ahead` items
  // wait in the queue.
  Producer(std::function<std::optional<T>()> make, size_t ahead, Threads threads = Threads::kOne)
      : ahead_(std::max<size_t>(1, ahead)),
        thread_([this, make = std::move(make), threads](std::stop_token stop) {
          if (threads == Threads::kFree) return run(make, stop);
          parallel_tasks(1, [&](int64_t) { run(make, stop); });
        }) {}

  // Stops the thread after the item that it is making.
  ~Producer() {
    thread_.request_stop();
    changed_.notify_all();
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // The next item, in the order of production; nothing after the last. Rethrows an exception of
  // `make` once the items before it have been returned.
  std::optional<T> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || done_; });
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return std::nullopt;
    }
    std::optional<T> out = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return out;
  }

 private:
  void run(const std::function<std::optional<T>()>& make, const std::stop_token& stop) {
    for (;;) {
      std::optional<T> made;
      std::exception_ptr error;
      try {
        made = make();
      } catch (...) {
        error = std::current_exception();
      }
      std::unique_lock lock(mutex_);
      // Asked first: GCC 12 at -O2 may keep the last thing in `made` when `make` throws.
      if (error || !made) {
        error_ = error;
        done_ = true;
        changed_.notify_all();
        return;
      }
      changed_.wait(lock, stop, [&] { return ready_.size() < ahead_; });
      if (stop.stop_requested()) return;
      ready_.push_back(std::move(*made));
      changed_.notify_all();
    }
  }

  size_t ahead_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> ready_;
  bool done_ = false;
  std::exception_ptr error_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace egc
