// Threads that stand in for the processes of a group.
#pragma once

#include <ATen/ATen.h>

#include <barrier>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include "egc/ops/batch_group.h"

namespace egc::ops {

class ThreadGroup : public BatchGroup {
 public:
  explicit ThreadGroup(int size) : barrier_(size), parts_(size), starts_(size) {
    set_batch_group(this);
  }
  ~ThreadGroup() override { set_batch_group(nullptr); }

  // f(rank) on every rank at once.
  void run(const std::function<void(int)>& f) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < static_cast<int>(parts_.size()); ++rank)
      threads.emplace_back([&f, rank] {
        my_rank = rank;
        f(rank);
      });
  }

  int rank() const override { return my_rank; }
  std::vector<at::Tensor> gather(const at::Tensor& mine) override {
    parts_[my_rank] = mine;
    barrier_.arrive_and_wait();
    std::vector<at::Tensor> all = parts_;
    barrier_.arrive_and_wait();
    return all;
  }
  std::unique_ptr<Pending> begin_exchange(const at::Tensor& sent, std::span<const int64_t> num_sent,
                                          const at::Tensor& received,
                                          std::span<const int64_t> num_received) override {
    // Nothing is there before it is waited for.
    struct Arriving : Pending {
      at::Tensor to, rows;
      void wait() override { to.copy_(rows); }
    };
    parts_[my_rank] = sent;
    starts_[my_rank].assign(1, 0);
    for (const int64_t n : num_sent) starts_[my_rank].push_back(starts_[my_rank].back() + n);
    barrier_.arrive_and_wait();
    auto out = std::make_unique<Arriving>();
    out->to = received;
    out->rows = at::empty_like(received);
    int64_t at = 0;
    for (size_t from = 0; from < parts_.size(); at += num_received[from], ++from)
      out->rows.narrow(0, at, num_received[from])
          .copy_(parts_[from].narrow(0, starts_[from][my_rank], num_received[from]));
    received.fill_(std::numeric_limits<double>::quiet_NaN());
    barrier_.arrive_and_wait();
    return out;
  }

 private:
  static thread_local inline int my_rank = 0;

  std::barrier<> barrier_;
  std::vector<at::Tensor> parts_;
  std::vector<std::vector<int64_t>> starts_;  // of the rows to each rank, in parts_
};

}  // namespace egc::ops
