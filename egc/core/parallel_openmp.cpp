// Threads by OpenMP: one pool shared with ATen and OpenBLAS, so nothing oversubscribes.
#include <omp.h>

#include <exception>

#include "egc/core/error.h"
#include "egc/core/parallel.h"

namespace egc {

namespace {

// Inside a task every library sees one thread, also where the task runs in no parallel region:
// otherwise a BLAS would split a lone task by the number of threads, and change its bits.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace

int num_threads() { return omp_get_max_threads(); }

void set_num_threads(int n) {
  check(n >= 1, "set_num_threads: the number of threads must be at least 1, got {}", n);
  omp_set_num_threads(n);
}

namespace detail {

void run_tasks(int64_t count, TaskFunction function, void* context) {
  if (count <= 0) return;
  if (count == 1 || omp_in_parallel() || omp_get_max_threads() == 1) {
    const OneThread alone;
    for (int64_t task = 0; task < count; ++task) function(context, task);
    return;
  }
  std::exception_ptr first;
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t task = 0; task < count; ++task) {
    try {
      function(context, task);
    } catch (...) {
#pragma omp critical(egc_first_exception)
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace detail
}  // namespace egc
