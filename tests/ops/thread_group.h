// Threads that stand in for the processes of a group.
#pragma once

#include <barrier>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "egc/graph/batch_group.h"

namespace egc::ops {

class ThreadGroup : public BatchGroup {
 public:
  explicit ThreadGroup(int size) : barrier_(size), values_(size), sent_(size), starts_(size) {
    set_batch_group(this);
  }
  ~ThreadGroup() override { set_batch_group(nullptr); }

  // f(rank) on every rank at once.
  void run(const std::function<void(int)>& f) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size(); ++rank)
      threads.emplace_back([&f, rank] {
        my_rank = rank;
        f(rank);
      });
  }

  int rank() const override { return my_rank; }
  int size() const override { return static_cast<int>(values_.size()); }

  std::vector<double> gather(std::span<const double> local) override {
    values_[my_rank] = local;
    barrier_.arrive_and_wait();
    std::vector<double> all;
    for (const std::span<const double> part : values_)
      all.insert(all.end(), part.begin(), part.end());
    barrier_.arrive_and_wait();
    return all;
  }

  // Nothing is there before it is waited for: meanwhile every byte is 0xFF, which makes NaNs.
  std::unique_ptr<Pending> begin_exchange(const void* sent, std::span<const int64_t> bytes_sent,
                                          void* received,
                                          std::span<const int64_t> bytes_received) override {
    sent_[my_rank] = static_cast<const std::byte*>(sent);
    starts_[my_rank].assign(1, 0);
    for (const int64_t n : bytes_sent) starts_[my_rank].push_back(starts_[my_rank].back() + n);
    barrier_.arrive_and_wait();
    auto out = std::make_unique<Arriving>();
    for (size_t from = 0; from < sent_.size(); ++from) {
      const std::byte* begin = sent_[from] + starts_[from][my_rank];
      out->bytes.insert(out->bytes.end(), begin, begin + bytes_received[from]);
    }
    out->to = received;
    if (!out->bytes.empty()) std::memset(received, 0xFF, out->bytes.size());
    barrier_.arrive_and_wait();
    return out;
  }

 private:
  struct Arriving : Pending {
    void* to = nullptr;
    std::vector<std::byte> bytes;
    ~Arriving() override { wait(); }
    void wait() override {
      if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
      bytes.clear();
    }
  };

  static thread_local inline int my_rank = 0;

  std::barrier<> barrier_;
  std::vector<std::span<const double>> values_;
  std::vector<const std::byte*> sent_;
  std::vector<std::vector<int64_t>> starts_;  // of the bytes to each rank
};

}  // namespace egc::ops
