#include "egc/app/child_jobs.h"

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

#include "egc/core/parallel.h"
#include "egc/data/build/child_process.h"

namespace egc::app {
namespace {

constexpr int kSlots = 256;
std::atomic<pid_t> children[kSlots];
static_assert(std::atomic<pid_t>::is_always_lock_free);  // a handler may use it

}  // namespace

PassSignalsTo::PassSignalsTo(int child) {
  for (slot_ = 0; slot_ < kSlots; ++slot_) {
    pid_t free = 0;
    if (children[slot_].compare_exchange_strong(free, child)) return;
  }
  fail(ErrorKind::kUsage, "at most {} parallel jobs are supported", kSlots);
}

PassSignalsTo::~PassSignalsTo() { children[slot_] = 0; }

void signal_children(int number) {
  for (const auto& child : children)
    if (const pid_t pid = child.load(); pid > 0) kill(pid, number);
}

std::vector<int> run_jobs(const ChildJobs& jobs) {
  check(!jobs.program.empty(),
        "parallel runs are processes of the egc program, so Session::program must name it");
  const size_t count = jobs.commands.size();
  std::vector<int> codes(count, kInterrupted);
  std::atomic<size_t> next = 0;
  std::mutex one_at_a_time;
  std::exception_ptr error;
  const auto is_stopped = [&] { return jobs.stop != nullptr && *jobs.stop != 0; };
  const auto run_one = [&](size_t k) {
    std::vector<std::string> arguments = {jobs.program};
    arguments.insert(arguments.end(), jobs.commands[k].begin(), jobs.commands[k].end());
    data::ChildProcess child(arguments);
    {
      const PassSignalsTo pass(child.pid());
      if (is_stopped()) kill(child.pid(), SIGTERM);  // the signal came before it was passed on
      child.for_each_line([&](std::string_view line) {
        const std::scoped_lock lock(one_at_a_time);
        jobs.on_line(k, line);
      });
    }
    constexpr int kTerminated = 128 + SIGTERM;  // before it could watch for signals
    const int code = child.wait();
    codes[k] = is_stopped() && code == kTerminated ? kInterrupted : code;
    const std::scoped_lock lock(one_at_a_time);
    jobs.on_end(k, codes[k]);
  };
  const auto work = [&] {
    try {
      for (size_t k = next++; k < count && !is_stopped(); k = next++) run_one(k);
    } catch (...) {
      const std::scoped_lock lock(one_at_a_time);
      if (!error) error = std::current_exception();
      next = count;  // nobody begins another
    }
  };
  std::vector<std::thread> workers;
  for (int64_t j = 0; j < std::min<int64_t>(jobs.at_once, std::ssize(jobs.commands)); ++j) try {
      workers.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads: those that are there do the work
      if (workers.empty()) throw;
      break;
    }
  for (std::thread& w : workers) w.join();
  if (error) std::rethrow_exception(error);
  return codes;
}

std::vector<std::string> child_arguments(const Session& session, int64_t threads) {
  return {"--json",         "--quiet",   "--data-dir",
          session.data_dir, "--threads", std::to_string(threads)};
}

int64_t threads_of_child(int64_t at_once, int64_t jobs) {
  return std::max<int64_t>(1, num_threads() / std::max<int64_t>(1, std::min(at_once, jobs)));
}

Error error_of_child(const std::string& what, int code) {
  const bool own = code >= static_cast<int>(ErrorKind::kUsage) &&
                   code <= static_cast<int>(ErrorKind::kVerification);
  return Error(own ? static_cast<ErrorKind>(code) : ErrorKind::kSystem,
               fmt::format("{} failed with {}", what,
                           code > 128 ? fmt::format("signal {}", code - 128)
                                      : fmt::format("exit code {}", code)));
}

}  // namespace egc::app
