// Process groups: the processes that train one network together.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "egc/distributed/address.h"
#include "egc/graph/batch_group.h"

namespace egc::distributed {

// A process group on Gloo. Every rank calls the collective functions in the same order.
class ProcessGroup : public BatchGroup {
 public:
  // Called once, from another thread, with a message when a rank is lost.
  using OnLost = std::function<void(const std::string& sentence)>;

  // Waits for all ranks. Throws kSystem if they do not connect in time.
  ProcessGroup(const GroupAddress& address, OnLost on_lost);
  ~ProcessGroup() override;  // call leave() first, unless an error ended the training

  int rank() const override;
  int size() const override;

  // Waits for the other ranks at the end of a training; their exit is no longer an error.
  void leave();

  // As BatchGroup::gather(). If a rank is lost, on_lost is called before this returns.
  std::vector<double> gather(std::span<const double> local) override;
  // Collects one text from every rank, of any length.
  std::vector<std::string> gather(const std::string& text);
  // Replaces `text` on all ranks with that of rank 0.
  void broadcast(std::string& text);
  // Replaces the bytes on all ranks with those of rank 0; the same size on every rank.
  void broadcast(std::span<std::byte> bytes);

  // Starts to sum values over all ranks, in place (all-reduce).
  std::unique_ptr<Pending> begin_sum(std::span<float> values);
  std::unique_ptr<Pending> begin_exchange(const void* sent, std::span<const int64_t> bytes_sent,
                                          void* received,
                                          std::span<const int64_t> bytes_received) override;
  // Bytes that begin_exchange() has sent to other ranks so far.
  int64_t bytes_exchanged() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace egc::distributed
