#include "egc/distributed/watch.h"

#include <fmt/format.h>

namespace egc::distributed {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBeat{500};
constexpr std::chrono::seconds kLinger{2};

std::string key_of(int rank) { return fmt::format("beat/{}", rank); }

std::vector<uint8_t> bytes_of(uint64_t beat) {
  const std::string text = std::to_string(beat);
  return {text.begin(), text.end()};
}

}  // namespace

Watch::Watch(c10::intrusive_ptr<c10d::Store> store, int rank, int size, OnLost on_lost)
    : store_(std::move(store)),
      rank_(rank),
      signs_(size, {{}, Clock::now()}),
      on_lost_(std::move(on_lost)) {
  store_->set(key_of(rank_), bytes_of(0));
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  stop();
  thread_.join();
}

void Watch::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  wake_.notify_all();
}

void Watch::wait_for_verdict() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, 2 * kSilence, [&] { return told_ || stopped_; });
}

void Watch::run() {
  int lost = -1;
  for (uint64_t beat = 1; lost < 0; ++beat) {
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, kBeat, [&] { return stopped_; })) return;
    lock.unlock();
    lost = lost_rank(beat);
  }
  std::unique_lock lock(mutex_);
  // The store ends with rank 0, and with it what the others could still learn of whom they lost.
  const auto linger = rank_ == 0 ? kLinger : std::chrono::seconds(0);
  if (wake_.wait_for(lock, linger, [&] { return stopped_; })) return;
  lock.unlock();
  on_lost_(fmt::format("rank {} of {} is lost: it gives no sign of life; this is rank {}", lost,
                       signs_.size(), rank_));
  lock.lock();
  told_ = true;
  wake_.notify_all();
}

int Watch::lost_rank(uint64_t beat) try {
  store_->set(key_of(rank_), bytes_of(beat));
  for (int r = 0; r < static_cast<int>(signs_.size()); ++r) {
    if (r == rank_) continue;
    Sign& sign = signs_[r];
    if (auto now = store_->get(key_of(r)); now != sign.value)
      sign = {std::move(now), Clock::now()};
    else if (Clock::now() - sign.seen > kSilence)
      return r;
  }
  return -1;
} catch (const std::exception&) {
  return 0;  // whose store it is
}

}  // namespace egc::distributed
