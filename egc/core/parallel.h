// The only door to threads. Tasks are numbered and independent; which thread runs one never
// matters.
#pragma once

#include <cstdint>
#include <type_traits>

namespace egc {

// Threads that a parallel region will use. With OpenMP (the default build) this is OpenMP's own
// setting, so OMP_NUM_THREADS and at::set_num_threads() govern egc too. A program with LibTorch
// calls the latter: LibTorch's first parallel loop sets OpenMP's number to its own.
int num_threads();
void set_num_threads(int n);

// Cores that this process may run on (its affinity mask, not the machine's size).
int available_cores();

namespace detail {
using TaskFunction = void (*)(void* context, int64_t task);
void run_tasks(int64_t count, TaskFunction function, void* context);
}  // namespace detail

// Calls f(task) for every task in [0, count), handed out one at a time in rising order. The first
// exception is rethrown in the caller. Inside a task, calls run serially and libraries (OpenMP,
// BLAS) see one thread.
template <class F>
void parallel_tasks(int64_t count, F&& f) {
  using Callable = std::remove_reference_t<F>;
  detail::run_tasks(
      count, [](void* context, int64_t task) { (*static_cast<Callable*>(context))(task); },
      const_cast<std::remove_const_t<Callable>*>(&f));
}

}  // namespace egc
