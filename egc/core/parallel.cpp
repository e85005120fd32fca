// A pool of threads that wait for tasks: a moment in a loop, as the next tasks of a training step
// come within microseconds, then asleep in the kernel.
//
// The pool is plain static memory and its threads are detached, so that nothing has to be torn
// down when the program ends, in whatever thread and at whatever moment it does.
#include "egc/core/parallel.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "egc/core/error.h"

namespace egc {
namespace {

constexpr int kMaxThreads = 4096;
constexpr auto kSpin = std::chrono::microseconds(40);

using Word = std::atomic<uint32_t>;  // what a thread can sleep on
static_assert(sizeof(Word) == sizeof(uint32_t) && Word::is_always_lock_free);

// Sleeps unless the word has changed already; may wake for no reason.
void sleep_on(Word& word, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, nullptr,
          nullptr, 0);
}

void wake(Word& word, uint32_t threads) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, threads, nullptr,
          nullptr, 0);
}

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// One call's tasks. Seats are what workers may still take; those who sit work. The caller writes
// the fields while no seat is free and nobody sits. A worker that wakes too late finds no seat, so
// nobody waits for a thread that the kernel has not run.
constexpr uint32_t kSeat = 1u << 16;
constexpr uint32_t sitting(uint32_t gate) { return gate % kSeat; }
constexpr uint32_t free_seats(uint32_t gate) { return gate / kSeat; }

struct Pool {
  std::atomic<bool> taken{false};  // by the one caller whose tasks run
  alignas(64) Word gate{0};        // free seats above kSeat, those who sit below
  Word sleeping{0};                // workers asleep on the gate, or about to be
  alignas(64) Word left{0};        // rises when the last worker leaves; the caller sleeps on it
  std::atomic<bool> caller_sleeps{false};
  std::atomic<bool> spin{true};
  int workers = 0;  // changed by the caller that has taken the pool

  alignas(64) std::atomic<int64_t> next{0};
  int64_t count = 0;
  detail::TaskFunction function = nullptr;
  void* context = nullptr;
  std::atomic<bool> failed{false};
  std::exception_ptr* first = nullptr;  // written by the one that set `failed`
};
constinit Pool g_pool;
constinit std::atomic<int> g_threads{0};  // 0: not asked for yet
constinit std::atomic<ParallelRunner> g_runner{nullptr};

enum class Role { kFree, kCaller, kWorker, kSerial };
constinit thread_local Role t_role = Role::kFree;  // of this thread in the tasks that it is in
constinit thread_local bool t_sits = false;        // as a worker of the pool
constinit thread_local bool t_called = false;      // the tasks that the pool runs
constinit thread_local int t_threads = 0;          // of calls from this thread; 0: g_threads

class InRole {
 public:
  explicit InRole(Role role) : before_(std::exchange(t_role, role)) {}
  ~InRole() { t_role = before_; }
  InRole(const InRole&) = delete;
  InRole& operator=(const InRole&) = delete;

 private:
  Role before_;
};

// Spins until `done()`, but only briefly, and not at all where another thread needs the core.
template <class Done>
bool spin_until(const Done& done) {
  if (!g_pool.spin.load(std::memory_order_relaxed)) return done();
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int k = 0; k < 32; ++k) {
      if (done()) return true;
      pause();
    }
    sched_yield();  // to the very thread that is waited for, if it wants the same core
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

void work() {
  Pool& p = g_pool;
  for (;;) {
    const int64_t task = p.next.fetch_add(1, std::memory_order_relaxed);
    if (task >= p.count) return;
    try {
      p.function(p.context, task);
    } catch (...) {
      if (!p.failed.exchange(true)) *p.first = std::current_exception();
      p.next.store(p.count, std::memory_order_relaxed);
    }
  }
}

bool take_seat() {
  uint32_t gate = g_pool.gate.load();
  while (free_seats(gate) > 0)
    if (g_pool.gate.compare_exchange_weak(gate, gate - kSeat + 1)) return true;
  return false;
}

void leave_seat() {
  Pool& p = g_pool;
  if (sitting(p.gate.fetch_sub(1)) > 1) return;
  p.left.fetch_add(1);
  if (p.caller_sleeps.load()) wake(p.left, 1);
}

void worker() {
  Pool& p = g_pool;
  t_role = Role::kWorker;
  for (;;) {
    if (take_seat()) {
      t_sits = true;
      work();
      t_sits = false;
      leave_seat();
    }
    const auto has_seat = [&] { return free_seats(p.gate.load(std::memory_order_relaxed)) > 0; };
    if (spin_until(has_seat)) continue;
    // The caller frees seats and then looks for sleepers; here it is the other way round, so one
    // of the two sees the other.
    p.sleeping.fetch_add(1);
    const uint32_t gate = p.gate.load();
    if (free_seats(gate) == 0) sleep_on(p.gate, gate);
    p.sleeping.fetch_sub(1);
  }
}

// In the child of a fork only the thread that forked goes on. If it was in the middle of tasks it
// ends those that nobody had begun; what other threads were at is not done there.
void forget_workers() {
  Pool& p = g_pool;
  p.workers = 0;
  p.gate = t_sits ? 1 : 0;
  p.sleeping = 0;
  p.caller_sleeps = false;
  p.taken = t_called;
  g_runner = nullptr;
}

// Before the first thread is started that a fork loses.
void expect_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, forget_workers);
  static_cast<void>(registered);
}

void start_workers(int wanted) {
  expect_forks();
  Pool& p = g_pool;
  try {
    for (; p.workers < wanted; ++p.workers) std::thread(worker).detach();
  } catch (const std::exception&) {  // the system gives no more: fewer do the same work
  }
}

// With the pool taken. `first`: where the first exception of a task goes.
void set_tasks(int64_t count, detail::TaskFunction function, void* context,
               std::exception_ptr& first) {
  Pool& p = g_pool;
  p.count = count;
  p.function = function;
  p.context = context;
  p.first = &first;
  p.failed.store(false, std::memory_order_relaxed);
  p.next.store(0, std::memory_order_relaxed);
}

// With the pool taken. Returns the first exception of a task.
std::exception_ptr run_on_runner(ParallelRunner run, int threads, int64_t count,
                                 detail::TaskFunction function, void* context) {
  std::exception_ptr first;
  set_tasks(count, function, context, first);
  run(
      [](void*) {
        const InRole worker(t_role == Role::kFree ? Role::kWorker : t_role);
        work();
      },
      nullptr, static_cast<unsigned>(threads), 0);
  return first;
}

// As above, on the pool's own threads.
std::exception_ptr run_on_pool(int threads, int64_t count, detail::TaskFunction function,
                               void* context) {
  Pool& p = g_pool;
  start_workers(threads - 1);
  std::exception_ptr first;
  set_tasks(count, function, context, first);
  const uint32_t seats = std::min(threads - 1, p.workers);
  p.gate.store(seats * kSeat);
  if (p.sleeping.load() > 0) wake(p.gate, seats);

  work();

  p.gate.fetch_and(kSeat - 1);  // those who have not come by now need not come
  const auto alone = [&] { return sitting(p.gate.load()) == 0; };
  while (!spin_until(alone)) {
    const uint32_t left = p.left.load();
    p.caller_sleeps = true;
    if (!alone()) sleep_on(p.left, left);
    p.caller_sleeps = false;
  }
  return first;
}

}  // namespace

int num_threads() {
  if (t_role != Role::kFree) return 1;
  if (t_threads > 0) return t_threads;
  const int threads = g_threads.load(std::memory_order_relaxed);
  if (threads > 0) return threads;
  const int wanted = detail::default_threads(std::getenv("OMP_NUM_THREADS"), available_cores());
  int unset = 0;  // what somebody sets meanwhile stays
  if (!g_threads.compare_exchange_strong(unset, wanted)) return unset;
  g_pool.spin = wanted <= available_cores();
  return wanted;
}

void set_num_threads(int n) {
  check(n >= 1, "set_num_threads: the number of threads must be at least 1, got {}", n);
  g_pool.spin = n <= available_cores();  // with more, who spins keeps another from working
  g_threads = n;
}

void set_num_threads_here(int n) {
  check(n >= 0, "set_num_threads: the number of threads must be at least 1, got {}", n);
  t_threads = n;
}

void set_parallel_runner(ParallelRunner run) {
  expect_forks();
  g_runner = run;
}

namespace detail {

int default_threads(const char* omp_num_threads, int cores) {
  if (omp_num_threads == nullptr) return cores;
  const char* end = omp_num_threads + std::strlen(omp_num_threads);
  int threads = 0;
  const auto parsed = std::from_chars(omp_num_threads, end, threads);
  const bool ends = parsed.ptr == end || *parsed.ptr == ',';
  return parsed.ec == std::errc() && ends && threads >= 1 && threads <= kMaxThreads ? threads
                                                                                    : cores;
}

void run_tasks(int64_t count, TaskFunction function, void* context) {
  if (count <= 0) return;
  const auto threads = static_cast<int>(std::min<int64_t>({count, num_threads(), kMaxThreads}));
  if (threads > 1 && !g_pool.taken.exchange(true)) {
    std::exception_ptr first;
    {
      const InRole caller(Role::kCaller);
      t_called = true;
      const ParallelRunner runner = g_runner.load(std::memory_order_relaxed);
      first = runner != nullptr ? run_on_runner(runner, threads, count, function, context)
                                : run_on_pool(threads, count, function, context);
      t_called = false;
    }
    g_pool.taken = false;
    if (first) std::rethrow_exception(first);
    return;
  }
  const InRole serial(Role::kSerial);
  for (int64_t task = 0; task < count; ++task) function(context, task);
}

}  // namespace detail
}  // namespace egc
