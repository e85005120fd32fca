// Background threads take no signals: those are the program's to handle. And a write to a peer that
// is gone would end the process by SIGPIPE; where that is blocked it is an error like others.
#pragma once

#include <csignal>
#include <ctime>

namespace egc::distributed {

// Of the calling thread, and of threads it starts meanwhile.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() {
    // What a write has left behind, or it would come now.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec at_once = {};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace egc::distributed
