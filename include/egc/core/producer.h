// A thread that makes things ahead of their use: decompression beside parsing, batches beside
// training.
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

template <class T>
class Producer {
 public:
  // `make` gives the next thing, or nothing at the end. It runs on a thread of its own, at most
  // `ahead` things ahead, and sees one thread (core/parallel): the consumer has the others. Where
  // making takes as long as using, it may take whichever threads are free instead.
  enum class Threads { kOne, kFree };
  Producer(std::function<std::optional<T>()> make, size_t ahead, Threads threads = Threads::kOne)
      : ahead_(std::max<size_t>(1, ahead)),
        thread_([this, make = std::move(make), threads](std::stop_token stop) {
          if (threads == Threads::kFree) return run(make, stop);
          parallel_tasks(1, [&](int64_t) { run(make, stop); });
        }) {}

  ~Producer() {
    thread_.request_stop();
    changed_.notify_all();
  }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  // The next thing, in the order they were made; nothing after the last. Rethrows what `make`
  // threw, once everything before it was handed out.
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
