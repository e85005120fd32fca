// Every task runs once on any number of threads, errors come home, and nothing nests.
#include "egc/core/parallel.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"

namespace egc {
namespace {

using testing::ThreadCount;

constexpr int kThreadCounts[] = {1, 2, 3, 8};

// OpenMP's own setting, or 0 where it is not loaded.
int openmp_threads() {
  const auto get = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return get == nullptr ? 0 : get();
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
  std::atomic<int> arrived{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  parallel_tasks(2, [&](int64_t) {
    ++arrived;
    while (arrived < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    if (arrived < 2) throw std::runtime_error("one task waited for the other to end");
  });
  EXPECT_EQ(arrived, 2);
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

TEST(Parallel, LibrariesSeeOneThreadInsideALoneTask) {
  const ThreadCount scope(5);
  if (openmp_threads() != 5) GTEST_SKIP() << "threads of the standard library";
  int inside = 0;
  parallel_tasks(1, [&](int64_t) { inside = num_threads(); });
  EXPECT_EQ(inside, 1);
  EXPECT_EQ(num_threads(), 5);
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

TEST(Parallel, AtLeastOneCoreIsAvailable) { EXPECT_GE(available_cores(), 1); }

}  // namespace
}  // namespace egc
