// The only door to threads. Tasks are numbered and independent; which thread runs one never
// matters.
#pragma once

#include <cstdint>
#include <type_traits>

namespace egc {

// Threads that a call of parallel_tasks() uses, the caller's among them; 1 inside a task. At first
// what OMP_NUM_THREADS says, as in most numeric programs, or else as many as there are cores.
int num_threads();

// For all threads of the process, from the next call of parallel_tasks() on. More than there are
// cores is allowed.
void set_num_threads(int n);

// Cores that this process may run on (its affinity mask, not the machine's size).
int available_cores();

namespace detail {
using TaskFunction = void (*)(void* context, int64_t task);
void run_tasks(int64_t count, TaskFunction function, void* context);

// What num_threads() begins with: the first number of a list like "4,2", or `cores`.
int default_threads(const char* omp_num_threads, int cores);
}  // namespace detail

// Calls f(task) for every task in [0, count), handed out one at a time in rising order, and
// returns when all are done. An exception ends the handing out; the first is rethrown in the
// caller. Inside a task, calls run serially; so do those of a second thread while the first one's
// tasks are running.
template <class F>
void parallel_tasks(int64_t count, F&& f) {
  using Callable = std::remove_reference_t<F>;
  detail::run_tasks(
      count, [](void* context, int64_t task) { (*static_cast<Callable*>(context))(task); },
      const_cast<std::remove_const_t<Callable>*>(&f));
}

}  // namespace egc
