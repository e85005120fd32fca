#include "egc/distributed/heartbeats.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "egc/core/error.h"
#include "egc/distributed/signals_blocked.h"

namespace egc::distributed {
namespace {

constexpr std::chrono::milliseconds kBeat{500};
// Who ends after an error has said why; the others wait, as they may be about to say the same.
constexpr std::chrono::seconds kOwnEnd{2};
constexpr std::chrono::seconds kFarewell{2};

}  // namespace

Heartbeats::Heartbeats(std::vector<Connection> connections, int rank, int size, OnLost on_lost)
    : rank_(rank), size_(size), on_lost_(std::move(on_lost)) {
  for (size_t k = 0; k < connections.size(); ++k)
    if (connections[k].is_open())
      peers_.push_back({static_cast<int>(k), std::move(connections[k]), Clock::now(), false});
  if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) fail(ErrorKind::kSystem, "cannot create a pipe");
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

Heartbeats::~Heartbeats() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  static_cast<void>(!write(wake_[1], "", 1));
  thread_.join();
  ::close(wake_[0]);
  ::close(wake_[1]);
}

void Heartbeats::leave() {
  leaving_ = true;
  static_cast<void>(!write(wake_[1], "", 1));
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return all_left_ || reported_; });
}

void Heartbeats::wait_for_verdict() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, 2 * kSilence, [&] { return reported_ || stopped_; });
}

void Heartbeats::post_to_all(MessageKind kind, std::string_view text) {
  for (Peer& peer : peers_) {
    peer.connection.post(kind, text);
    if (kind != MessageKind::kBeat) peer.connection.flush(Clock::now() + kFarewell);
  }
}

void Heartbeats::wait_for_messages() {
  std::vector<pollfd> polls = {{wake_[0], POLLIN, 0}};
  for (const Peer& peer : peers_)
    if (peer.connection.is_open()) polls.push_back({peer.connection.socket(), POLLIN, 0});
  poll(polls.data(), polls.size(), static_cast<int>(kBeat.count()));
  char block[64];
  while (read(wake_[0], block, sizeof block) > 0) {
  }
}

Heartbeats::LostRank Heartbeats::take_messages(Peer& peer) {
  const bool alive = peer.connection.pump();
  while (const auto message = peer.connection.take()) {
    peer.seen = Clock::now();
    if (message->kind == MessageKind::kLeave) peer.left = true;
    if (message->kind == MessageKind::kLost || message->kind == MessageKind::kBye)
      return {std::atoi(message->text.c_str()), message->kind == MessageKind::kBye};
    if (message->kind != MessageKind::kAllLeft) continue;
    const std::lock_guard lock(mutex_);
    all_left_ = true;
    changed_.notify_all();
    return {};
  }
  if (!alive || Clock::now() - peer.seen > kSilence) return {peer.rank};
  return {};
}

Heartbeats::LostRank Heartbeats::look() {
  bool all_left = leaving_;
  for (Peer& peer : peers_) {
    LostRank loss;
    try {
      loss = take_messages(peer);
    } catch (const Error&) {
      loss = {peer.rank};
    }
    if (loss.rank >= 0) return loss;
    all_left = all_left && peer.left;
  }
  if (rank_ == 0 && all_left) {
    post_to_all(MessageKind::kAllLeft);
    const std::lock_guard lock(mutex_);
    all_left_ = true;
    changed_.notify_all();
  }
  return {};
}

void Heartbeats::tell(const LostRank& loss) {
  // Rank 0 hears first; the others have nobody else to learn from.
  if (rank_ == 0)
    post_to_all(loss.by_itself ? MessageKind::kBye : MessageKind::kLost, std::to_string(loss.rank));
  if (loss.by_itself) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kOwnEnd, [&] { return stopped_; })) return;
  }
  on_lost_(loss.by_itself ? fmt::format("rank {} of {} exited before the others; this is rank {}",
                                        loss.rank, size_, rank_)
                          : fmt::format("rank {} of {} is lost: no heartbeat; this is rank {}",
                                        loss.rank, size_, rank_));
  const std::lock_guard lock(mutex_);
  reported_ = true;
  changed_.notify_all();
}

void Heartbeats::run() {
  Clock::time_point beat = Clock::now();
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (all_left_) return;
      if (stopped_) break;
    }
    if (Clock::now() >= beat) {
      post_to_all(MessageKind::kBeat);
      beat = Clock::now() + kBeat;
    }
    if (leaving_ && !std::exchange(said_leave_, true) && rank_ != 0)
      post_to_all(MessageKind::kLeave);
    if (const LostRank loss = look(); loss.rank >= 0) {
      tell(loss);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      if (all_left_) return;
    }
    wait_for_messages();
  }
  post_to_all(MessageKind::kBye, std::to_string(rank_));
}

}  // namespace egc::distributed
