// Which ranks are still there. Every rank gives signs of life to rank 0 and gets them from it; rank
// 0 tells the others of whom it misses. One that is silent for kSilence is lost, whether it hangs
// or cannot be reached; of one that has died the system tells at once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "egc/distributed/connection.h"

namespace egc::distributed {

class Heartbeats {
 public:
  static constexpr std::chrono::seconds kSilence{10};
  using OnLost = std::function<void(const std::string& sentence)>;

  // connections: Rendezvous::take_connections(). on_lost is called once, from the thread that sends
  // and reads heartbeats.
  Heartbeats(std::vector<Connection> connections, int rank, int size, OnLost on_lost);
  // Others are told that this rank ends, which they must not take for a loss of theirs.
  ~Heartbeats();

  // When all is done: waits until every rank has called this. Losses on the way are told.
  void leave();

  // Until a loss was told of, or long enough to know that there was none.
  void wait_for_verdict();

 private:
  struct Peer {
    int rank = 0;
    Connection connection;
    Clock::time_point seen;
    bool left = false;
  };
  struct LostRank {
    int rank = -1;  // none
    bool by_itself = false;
  };

  void run();
  LostRank look();  // at what has come
  LostRank take_messages(Peer& peer);
  void wait_for_messages();
  void post_to_all(MessageKind kind, std::string_view text = {});
  void tell(const LostRank& loss);

  int rank_;
  int size_;
  std::vector<Peer> peers_;  // of the thread alone
  OnLost on_lost_;
  std::atomic<bool> leaving_ = false;
  bool said_leave_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  bool reported_ = false;
  bool all_left_ = false;
  int wake_[2] = {-1, -1};  // a pipe that ends the thread's waiting
  std::thread thread_;
};

}  // namespace egc::distributed
