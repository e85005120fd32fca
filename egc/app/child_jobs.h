// Commands of this program in processes of their own, some at a time.
#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "egc/app/session.h"
#include "egc/core/error.h"

namespace egc::app {

constexpr int kInterrupted = 130;  // exit code: a checkpoint was written

struct ChildJobs {
  std::string program;
  std::vector<std::vector<std::string>> commands;  // what follows the program's name
  int64_t at_once = 1;
  const volatile std::sig_atomic_t* stop = nullptr;  // set: nothing more is begun
  // Never two at a time. What they throw is thrown when the children that run have ended.
  std::function<void(size_t job, std::string_view line)> on_line;
  std::function<void(size_t job, int code)> on_end = [](size_t, int) {};
};

// The exit codes. kInterrupted: it was stopped, or not begun. signal_children() reaches
// those that run.
std::vector<int> run_jobs(const ChildJobs& jobs);

// What every child is told: JSON on stdout, the same data, its share of the threads.
std::vector<std::string> child_arguments(const Session& session, int64_t threads);
// Threads of each of `jobs` children, of which at most `at_once` run together.
int64_t threads_of_child(int64_t at_once, int64_t jobs);

// Passes a signal on to the children that run; signal handlers may call it.
void signal_children(int number);

// While it lives, signal_children() reaches the process.
class PassSignalsTo {
 public:
  explicit PassSignalsTo(int child);
  ~PassSignalsTo();
  PassSignalsTo(const PassSignalsTo&) = delete;
  PassSignalsTo& operator=(const PassSignalsTo&) = delete;

 private:
  int slot_;
};

// The error of a child that ended with a code, as an error of this program.
Error error_of_child(const std::string& what, int code);

}  // namespace egc::app
