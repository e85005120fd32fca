// Every task runs once on any number of threads, errors come home, and nothing nests; also where
// several threads call at once, after a fork and at the program's end.
#include "egc/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"

#if defined(__SANITIZE_THREAD__)  // GCC's name
#define EGC_SKIP_UNDER_TSAN GTEST_SKIP() << "the thread sanitizer starts no threads after a fork"
#else
#define EGC_SKIP_UNDER_TSAN static_cast<void>(0)
#endif

namespace egc {
namespace {

using testing::ThreadCount;

constexpr int kThreadCounts[] = {1, 2, 3, 8};

// Whether `threads` tasks are all under way at one moment, each on a thread of its own. Waits
// for the last of them, so every thread must come.
bool all_meet(int threads) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  std::mutex mutex;
  std::set<std::thread::id> ids;
  parallel_tasks(threads, [&](int64_t) {
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    ++arrived;
    while (arrived < threads && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    if (arrived < threads) met = false;
  });
  return met && std::ssize(ids) == threads;
}

// 0 + 1 + ... + (count - 1), by tasks.
int64_t sum_by_tasks(int64_t count) {
  std::atomic<int64_t> sum{0};
  parallel_tasks(count, [&](int64_t task) { sum += task; });
  return sum;
}

TEST(Parallel, EveryTaskRunsExactlyOnce) {
  for (const int threads : kThreadCounts) {
    const ThreadCount scope(threads);
    for (const int64_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(count);
      parallel_tasks(count, [&](int64_t task) { ++runs.at(task); });
      EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }))
          << threads << " threads, " << count << " tasks";
    }
  }
}

TEST(Parallel, NegativeCountRunsNothing) {
  std::atomic<int> runs{0};
  parallel_tasks(-3, [&](int64_t) { ++runs; });
  EXPECT_EQ(runs, 0);
}

TEST(Parallel, ThreadsReallyRunAtTheSameTime) {
  const ThreadCount scope(2);
  EXPECT_TRUE(all_meet(2));
}

TEST(Parallel, NumberOfThreadsMayChangeBetweenCalls) {
  for (const int threads : {1, 8, 2, 5, 1, 12, 3}) {
    const ThreadCount scope(threads);
    EXPECT_EQ(num_threads(), threads);
    EXPECT_TRUE(all_meet(threads)) << threads;
    EXPECT_EQ(sum_by_tasks(1000), 499500) << threads;
  }
}

TEST(Parallel, SleepingThreadsAreWoken) {
  for (const int threads : {2, 7}) {
    const ThreadCount scope(threads);
    for (int k = 0; k < 5; ++k) {
      ASSERT_TRUE(all_meet(threads)) << threads << " threads, call " << k;
      std::this_thread::sleep_for(std::chrono::milliseconds(3));  // longer than they spin
    }
  }
}

TEST(Parallel, ThousandsOfTinyCalls) {
  for (const int threads : {2, 3, 8}) {
    const ThreadCount scope(threads);
    for (int k = 0; k < 4000; ++k) ASSERT_EQ(sum_by_tasks(k % 9), (k % 9) * (k % 9 - 1) / 2);
  }
}

// Who starts with task t knows that all before it were handed out; at most the other threads may
// have theirs in hand without having started.
TEST(Parallel, TasksAreHandedOutInRisingOrder) {
  for (const int threads : {2, 4, 8}) {
    const ThreadCount scope(threads);
    std::mutex mutex;
    int64_t started = 0;
    int wrong = 0;
    std::map<std::thread::id, int64_t> last;
    parallel_tasks(20000, [&](int64_t task) {
      const std::lock_guard lock(mutex);
      if (started++ < task - (threads - 1)) ++wrong;
      const auto [mine, is_first] = last.try_emplace(std::this_thread::get_id(), task);
      if (!is_first && std::exchange(mine->second, task) >= task) ++wrong;
    });
    EXPECT_EQ(wrong, 0) << threads;
  }
}

TEST(Parallel, TakesConstCallables) {
  std::atomic<int64_t> sum{0};
  const auto add = [&](int64_t task) { sum += task; };
  parallel_tasks(10, add);
  EXPECT_EQ(sum, 45);
}

TEST(Parallel, ExceptionIsRethrownAndThreadsSurvive) {
  for (const int threads : kThreadCounts) {
    const ThreadCount scope(threads);
    for (const int64_t count : {1, 50}) {
      const auto throwing = [&](int64_t task) {
        if (task == count / 2) fail(ErrorKind::kData, "task {} broke", task);
      };
      testing::expect_error(ErrorKind::kData, {fmt::format("task {} broke", count / 2)},
                            [&] { parallel_tasks(count, throwing); });
      EXPECT_EQ(num_threads(), threads);
    }
  }
}

TEST(Parallel, OneOfManyExceptionsIsRethrown) {
  const ThreadCount scope(8);
  EXPECT_THROW(parallel_tasks(100, [](int64_t) { throw std::out_of_range("all of them"); }),
               std::out_of_range);
}

// Whether `inner` tasks inside each of `outer` tasks stay on the thread of their task, in order.
bool nested_is_serial(int64_t outer, int64_t inner) {
  std::atomic<bool> serial{true};
  parallel_tasks(outer, [&](int64_t) {
    const auto home = std::this_thread::get_id();
    std::atomic<int64_t> next{0};
    parallel_tasks(inner, [&](int64_t task) {
      if (std::this_thread::get_id() != home || task != next++) serial = false;
    });
    if (next != inner) serial = false;
  });
  return serial;
}

TEST(Parallel, NestedCallRunsSerially) {
  const ThreadCount scope(4);
  EXPECT_TRUE(nested_is_serial(16, 1000));
}

TEST(Parallel, CallInsideALoneTaskRunsSerially) {
  const ThreadCount scope(4);
  EXPECT_TRUE(nested_is_serial(1, 1000));
}

TEST(Parallel, OneThreadIsSeenInsideATask) {
  const ThreadCount scope(5);
  for (const int64_t count : {1, 20}) {
    std::atomic<int> most{0};
    parallel_tasks(count, [&](int64_t) {
      if (num_threads() != 1) most = num_threads();
    });
    EXPECT_EQ(most, 0) << count;
    EXPECT_EQ(num_threads(), 5);
  }
}

TEST(Parallel, ThreadCountIsRestoredAfterALoneTaskThrows) {
  const ThreadCount scope(5);
  EXPECT_THROW(parallel_tasks(1, [](int64_t) { throw std::runtime_error("alone"); }),
               std::runtime_error);
  EXPECT_EQ(num_threads(), 5);
}

TEST(Parallel, ThreadCountBelowOneIsRefused) {
  const ThreadCount scope(3);
  for (const int n : {0, -1})
    testing::expect_error(ErrorKind::kUsage, {"at least 1", std::to_string(n)},
                          [n] { set_num_threads(n); });
  EXPECT_EQ(num_threads(), 3);
}

TEST(Parallel, SeveralThreadsMayCallAtOnce) {
  const ThreadCount scope(3);
  std::atomic<int> wrong{0};
  std::vector<std::jthread> callers;
  for (int k = 0; k < 4; ++k)
    callers.emplace_back([&wrong, k] {
      for (int call = 0; call < 1500; ++call) {
        const int64_t count = (k + call) % 17;
        if (sum_by_tasks(count) != count * (count - 1) / 2) ++wrong;
        if (call % 100 == 0) {
          try {
            parallel_tasks(8, [&](int64_t task) {
              if (task == 3) throw std::runtime_error(std::to_string(k));
            });
            ++wrong;
          } catch (const std::runtime_error& e) {
            if (e.what() != std::to_string(k)) ++wrong;  // somebody else's
          }
        }
      }
    });
  callers.clear();  // joins
  EXPECT_EQ(wrong, 0);
}

TEST(Parallel, SecondCallerDoesNotWaitForTheFirst) {
  const ThreadCount scope(2);
  std::atomic<bool> first_runs{false};
  std::atomic<bool> second_done{false};
  std::atomic<bool> in_time{false};
  std::jthread first([&] {
    parallel_tasks(2, [&](int64_t task) {
      if (task != 0) return;
      first_runs = true;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!second_done && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      in_time = second_done.load();
    });
  });
  while (!first_runs) std::this_thread::yield();
  EXPECT_EQ(sum_by_tasks(100), 4950);
  second_done = true;
  first.join();
  EXPECT_TRUE(in_time);
}

TEST(Parallel, SettingTheNumberDuringTasksIsForTheNextCall) {
  const ThreadCount scope(4);
  std::atomic<bool> changes{false};
  std::jthread changer([&](const std::stop_token& stop) {
    for (int n = 1; !stop.stop_requested(); n = n % 6 + 1) {
      set_num_threads(n);
      changes = true;
    }
  });
  while (!changes) std::this_thread::yield();
  for (int k = 0; k < 2000; ++k) ASSERT_EQ(sum_by_tasks(10), 45);
}

// Runs `child` in a fork of this process and gives its exit code, or -1.
template <class Child>
int exit_code_of_fork(const Child& child) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);  // one that hangs does not stay
    _exit(child());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Parallel, ChildOfAForkHasThreadsOfItsOwn) {
  EGC_SKIP_UNDER_TSAN;
  const ThreadCount scope(3);
  ASSERT_TRUE(all_meet(3));
  EXPECT_EQ(exit_code_of_fork([] { return all_meet(3) && all_meet(3) ? 7 : 8; }), 7);
  EXPECT_TRUE(all_meet(3));
}

TEST(Parallel, ForkWhileAnotherThreadsTasksRun) {
  EGC_SKIP_UNDER_TSAN;
  const ThreadCount scope(3);
  std::atomic<bool> stop{false};
  std::atomic<bool> runs{false};
  std::jthread other([&] {
    while (!stop) {
      sum_by_tasks(50);
      runs = true;
    }
  });
  while (!runs) std::this_thread::yield();
  for (int k = 0; k < 20; ++k) ASSERT_EQ(exit_code_of_fork([] { return all_meet(3) ? 7 : 8; }), 7);
  stop = true;
}

TEST(Parallel, ForkInsideATask) {
  EGC_SKIP_UNDER_TSAN;
  const ThreadCount scope(3);
  std::atomic<int> code{0};
  parallel_tasks(20, [&](int64_t task) {
    if (task == 5) code = exit_code_of_fork([] { return sum_by_tasks(10) == 45 ? 7 : 8; });
  });
  EXPECT_EQ(code, 7);
  EXPECT_TRUE(all_meet(3));
}

// The child leaves its task and the whole call, and only then ends.
TEST(Parallel, ChildOfAForkInsideATaskEndsTheCall) {
  EGC_SKIP_UNDER_TSAN;
  const ThreadCount scope(3);
  const pid_t parent = getpid();
  const auto caller = std::this_thread::get_id();
  std::atomic<pid_t> child{-1};
  all_meet(3);
  parallel_tasks(300, [&](int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (getpid() != parent || std::this_thread::get_id() != caller || child != -1) return;
    const pid_t pid = fork();
    if (pid == 0) alarm(60);
    child = pid;
  });
  if (getpid() != parent) _exit(all_meet(3) ? 7 : 8);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

// Ends the program with the exit code 7 while threads of the pool sleep, spin or work.
void end_program(std::chrono::microseconds pause_before) {
  set_num_threads(3);
  all_meet(3);
  std::this_thread::sleep_for(pause_before);
  std::exit(7);
}

TEST(ParallelDeathTest, ProgramMayEndWhileThreadsSleepOrSpin) {
  EGC_SKIP_UNDER_TSAN;
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that begins anew
  EXPECT_EXIT(end_program(std::chrono::milliseconds(5)), ::testing::ExitedWithCode(7), "");
  EXPECT_EXIT(end_program(std::chrono::microseconds(0)), ::testing::ExitedWithCode(7), "");
}

TEST(ParallelDeathTest, ProgramMayEndInsideATask) {
  EGC_SKIP_UNDER_TSAN;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_in_task = [] {
    set_num_threads(3);
    parallel_tasks(100, [](int64_t task) {
      if (task == 40) std::exit(7);
    });
  };
  EXPECT_EXIT(end_in_task(), ::testing::ExitedWithCode(7), "");
}

// Runs work on threads of its own, like OpenMP.
std::atomic<int> g_runs{0};
void run_elsewhere(void (*work)(void*), void* context, unsigned threads, unsigned /*flags*/) {
  ++g_runs;
  std::vector<std::thread> others;
  for (unsigned k = 1; k < threads; ++k) others.emplace_back(work, context);
  work(context);
  for (std::thread& t : others) t.join();
}

TEST(Parallel, AnotherLibrarysThreadsRunTheTasks) {
  const ThreadCount threads(3);
  set_parallel_runner(run_elsewhere);
  g_runs = 0;
  std::vector<std::atomic<int>> runs(100);
  std::atomic<int> nested{0};
  parallel_tasks(100, [&](int64_t k) {
    ++runs[k];
    nested += num_threads() - 1;
  });
  EXPECT_THROW(parallel_tasks(50, [](int64_t k) { check(k != 20, "task {}", k); }), Error);
  EXPECT_EQ(g_runs, 2);
  EXPECT_EQ(nested, 0);
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  set_parallel_runner(nullptr);
  parallel_tasks(100, [](int64_t) {});
  EXPECT_EQ(g_runs, 2);
}

TEST(Parallel, AForkLeavesTheRunnerBehind) {
  EGC_SKIP_UNDER_TSAN;
  const ThreadCount threads(2);
  set_parallel_runner(run_elsewhere);
  g_runs = 0;
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> count{0};
    parallel_tasks(10, [&](int64_t) { ++count; });
    _exit(count == 10 && g_runs == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  set_parallel_runner(nullptr);
}

TEST(Parallel, AThreadMayHaveANumberOfItsOwn) {
  const ThreadCount threads(3);
  set_num_threads_here(2);
  EXPECT_EQ(num_threads(), 2);
  std::thread([] { EXPECT_EQ(num_threads(), 3); }).join();
  set_num_threads_here(0);
  EXPECT_EQ(num_threads(), 3);
  EXPECT_THROW(set_num_threads_here(-1), Error);
}

TEST(Parallel, DefaultIsTheFirstNumberOfTheVariable) {
  EXPECT_EQ(detail::default_threads("4", 9), 4);
  EXPECT_EQ(detail::default_threads("4,2", 9), 4);
  for (const char* bad : {"", "0", "-3", "4x", "x", ",", "99999999999999", "100000", " 4"})
    EXPECT_EQ(detail::default_threads(bad, 9), 9) << bad;
  EXPECT_EQ(detail::default_threads(nullptr, 9), 9);
}

TEST(Parallel, AtLeastOneCoreIsAvailable) { EXPECT_GE(available_cores(), 1); }

}  // namespace
}  // namespace egc
