#include "cli/child_jobs.h"

#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

#include "cli/stop_signal.h"
#include "egc/core/parallel.h"
#include "egc/data/child_process.h"

namespace egc::cli {

std::vector<int> run_jobs(const ChildJobs& jobs) {
  const size_t count = jobs.commands.size();
  std::vector<int> codes(count, kInterrupted);
  std::atomic<size_t> next = 0;
  std::mutex one_at_a_time;
  std::exception_ptr error;
  const auto run_one = [&](size_t k) {
    std::vector<std::string> arguments = {"/proc/self/exe"};
    arguments.insert(arguments.end(), jobs.commands[k].begin(), jobs.commands[k].end());
    data::ChildProcess child(arguments);
    {
      const PassSignalsTo pass(child.pid());
      if (*jobs.stop != 0) kill(child.pid(), SIGTERM);  // the signal came before it was passed on
      child.for_each_line([&](std::string_view line) {
        const std::scoped_lock lock(one_at_a_time);
        jobs.on_line(k, line);
      });
    }
    constexpr int kTerminated = 128 + SIGTERM;  // before it could watch for signals
    const int code = child.wait();
    codes[k] = *jobs.stop != 0 && code == kTerminated ? kInterrupted : code;
    const std::scoped_lock lock(one_at_a_time);
    jobs.on_end(k, codes[k]);
  };
  const auto work = [&] {
    try {
      for (size_t k = next++; k < count && *jobs.stop == 0; k = next++) run_one(k);
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

std::vector<std::string> child_arguments(const CommonOptions& common, int64_t threads) {
  return {"--json", "--quiet", "--data-dir", common.data_dir, "--threads", std::to_string(threads)};
}

int64_t threads_of_child(int64_t at_once, int64_t jobs) {
  return std::max<int64_t>(1, num_threads() / std::max<int64_t>(1, std::min(at_once, jobs)));
}

Error error_of_child(const std::string& what, int code) {
  const bool own = code >= static_cast<int>(ErrorKind::kUsage) &&
                   code <= static_cast<int>(ErrorKind::kVerification);
  return Error(own ? static_cast<ErrorKind>(code) : ErrorKind::kSystem,
               fmt::format("{} ended with {}", what,
                           code > 128 ? fmt::format("signal {}", code - 128)
                                      : fmt::format("exit code {}", code)));
}

}  // namespace egc::cli
