// SIGINT and SIGTERM as a request for a graceful stop at the next checkpoint. The third ends the
// process: a child gets Ctrl-C twice, from the terminal and from its parent.
#pragma once

#include <csignal>

#include "egc/app/child_jobs.h"

namespace egc::cli {

using app::kInterrupted;

// Says that the same command goes on, and ends the program with that code.
[[noreturn]] void end_interrupted();

// From now on signals set the flag instead of ending the process.
const volatile std::sig_atomic_t* watch_stop_signals();

}  // namespace egc::cli
