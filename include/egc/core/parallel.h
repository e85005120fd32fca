// The thread pool. All parallel code of egc runs as numbered, independent tasks, so results do not
// depend on the number of threads.
#pragma once

#include <cstdint>
#include <type_traits>

namespace egc {

// Threads that parallel_tasks() uses, the calling one included; 1 inside a task. The initial value
// is OMP_NUM_THREADS, or else the number of cores.
int num_threads();

// Sets the number of threads of the process, from the next call of parallel_tasks() on. It may
// exceed the number of cores.
void set_num_threads(int n);

// Sets the number of threads of calls from this thread; 0: as the process.
void set_num_threads_here(int n);

// Calls work(context) from up to `threads` threads at the same time, the calling one among them,
// and returns when all calls have. The signature is that of GOMP_parallel, with flags 0.
using ParallelRunner = void (*)(void (*work)(void*), void* context, unsigned threads,
                                unsigned flags);
// Runs tasks on another library's threads instead of the pool's; null: on the pool's. After a fork
// the child has the pool again: OpenMP's threads do not survive it.
void set_parallel_runner(ParallelRunner run);

// Cores that this process may run on (its affinity mask).
int available_cores();

namespace detail {
using TaskFunction = void (*)(void* context, int64_t task);
void run_tasks(int64_t count, TaskFunction function, void* context);

// What num_threads() begins with: the first number of a list like "4,2", or `cores`.
int default_threads(const char* omp_num_threads, int cores);
}  // namespace detail

// Calls f(task) for every task in [0, count) and returns when all are done. Threads take tasks one
// at a time, in ascending order. After an exception no further tasks start, and the first one is
// rethrown in the caller. Nested calls run serially, and so do calls from a second thread while
// tasks are running.
template <class F>
void parallel_tasks(int64_t count, F&& f) {
  using Callable = std::remove_reference_t<F>;
  detail::run_tasks(
      count, [](void* context, int64_t task) { (*static_cast<Callable*>(context))(task); },
      const_cast<std::remove_const_t<Callable>*>(&f));
}

}  // namespace egc
