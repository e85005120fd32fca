// Threads by the standard library, for the thread sanitizer, which cannot see into libgomp.
// Threads are started for each call: correct and checkable, not fast.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "egc/core/error.h"
#include "egc/core/parallel.h"

namespace egc {
namespace {

std::atomic<int> g_threads{1};
thread_local bool t_inside = false;

// Marks the thread as inside a task for a scope.
class Inside {
 public:
  Inside() : before_(std::exchange(t_inside, true)) {}
  ~Inside() { t_inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool before_;
};

}  // namespace

int num_threads() { return t_inside ? 1 : g_threads.load(); }

void set_num_threads(int n) {
  check(n >= 1, "set_num_threads: the number of threads must be at least 1, got {}", n);
  g_threads = n;
}

namespace detail {

void run_tasks(int64_t count, TaskFunction function, void* context) {
  const auto threads = static_cast<int>(std::min<int64_t>(count, g_threads));
  if (threads <= 1 || t_inside) {
    const Inside inside;
    for (int64_t task = 0; task < count; ++task) function(context, task);
    return;
  }
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr first;
  const auto work = [&] {
    const Inside inside;
    for (int64_t task = next++; task < count; task = next++) {
      try {
        function(context, task);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
  pool.clear();  // joins
  if (first) std::rethrow_exception(first);
}

}  // namespace detail
}  // namespace egc
