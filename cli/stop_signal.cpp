#include "cli/stop_signal.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>

#include "egc/core/error.h"

namespace egc::cli {
namespace {

volatile std::sig_atomic_t wish = 0;

constexpr int kSlots = 256;
std::atomic<pid_t> children[kSlots];
static_assert(std::atomic<pid_t>::is_always_lock_free);  // a handler may use it

void on_signal(int number) {
  const int error = errno;
  for (const auto& child : children)
    if (const pid_t pid = child.load(); pid > 0) kill(pid, number);
  if (wish != 0) std::signal(number, SIG_DFL);  // the next one ends the process
  wish = 1;
  errno = error;
}

}  // namespace

void end_interrupted() {
  fmt::print(stderr, "egc: interrupted; the same command goes on\n");
  throw CLI::RuntimeError(kInterrupted);
}

const volatile std::sig_atomic_t* watch_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return &wish;
}

PassSignalsTo::PassSignalsTo(pid_t child) {
  for (slot_ = 0; slot_ < kSlots; ++slot_) {
    pid_t free = 0;
    if (children[slot_].compare_exchange_strong(free, child)) return;
  }
  fail(ErrorKind::kUsage, "at most {} jobs at a time", kSlots);
}

PassSignalsTo::~PassSignalsTo() { children[slot_] = 0; }

}  // namespace egc::cli
