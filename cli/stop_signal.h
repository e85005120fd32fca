// SIGINT and SIGTERM as a wish to stop at the next checkpoint. The third ends the process: a child
// gets Ctrl-C twice, from the terminal and from its parent.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace egc::cli {

constexpr int kInterrupted = 130;  // exit code: a checkpoint was written

// Says that the same command goes on, and ends the program with that code.
[[noreturn]] void end_interrupted();

// From now on signals set the flag instead of ending the process.
const volatile std::sig_atomic_t* watch_stop_signals();

// While it lives, the signal is passed on to a child.
class PassSignalsTo {
 public:
  explicit PassSignalsTo(pid_t child);
  ~PassSignalsTo();
  PassSignalsTo(const PassSignalsTo&) = delete;
  PassSignalsTo& operator=(const PassSignalsTo&) = delete;

 private:
  int slot_;
};

}  // namespace egc::cli
