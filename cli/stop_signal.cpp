#include "cli/stop_signal.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>

#include "egc/core/error.h"

namespace egc::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;

void on_signal(int number) {
  const int error = errno;
  app::signal_children(number);
  if (stop_requested != 0) std::signal(number, SIG_DFL);  // the next one ends the process
  stop_requested = 1;
  errno = error;
}

}  // namespace

void end_interrupted() {
  fmt::print(stderr, "egc: interrupted; run the same command again to continue\n");
  throw CLI::RuntimeError(kInterrupted);
}

const volatile std::sig_atomic_t* watch_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return &stop_requested;
}

}  // namespace egc::cli
