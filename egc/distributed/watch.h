// Which ranks are still there. Every rank leaves a sign of life in the store that rank 0 keeps, and
// looks for the others'. One that is silent for kSilence is lost, whether it died, hangs or cannot
// be reached.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace egc::distributed {

class Watch {
 public:
  static constexpr std::chrono::seconds kSilence{10};
  using OnLost = std::function<void(const std::string& sentence)>;

  // The store must be used by nobody else: it answers one question at a time.
  Watch(c10::intrusive_ptr<c10d::Store> store, int rank, int size, OnLost on_lost);
  ~Watch();

  // Says nothing any more: ranks leave.
  void stop();

  // Until a loss was told of, or long enough to know that there was none.
  void wait_for_verdict();

 private:
  void run();
  int lost_rank(uint64_t beat);  // -1: none

  struct Sign {
    std::vector<uint8_t> value;
    std::chrono::steady_clock::time_point seen;
  };

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  std::vector<Sign> signs_;
  OnLost on_lost_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  bool told_ = false;
  std::thread thread_;
};

}  // namespace egc::distributed
