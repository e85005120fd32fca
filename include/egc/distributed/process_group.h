// The processes that train one network together. Every rank calls the collective functions in the
// same order.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "egc/distributed/address.h"
#include "egc/graph/batch_group.h"

namespace egc::distributed {

class ProcessGroup : public BatchGroup {
 public:
  // What a lost rank (heartbeats.h) is told to; called from a thread of the group's own, once.
  using OnLost = std::function<void(const std::string& sentence)>;

  // Waits for all ranks. Throws kSystem where they do not come together.
  ProcessGroup(const GroupAddress& address, OnLost on_lost);
  ~ProcessGroup() override;

  int rank() const override;
  int size() const override;

  // When all is done: waits for the others, and is not surprised that they go.
  void leave();

  // Where a rank is lost these do not come back before on_lost was called.
  std::vector<double> gather(std::span<const double> local) override;
  // Texts of any length.
  std::vector<std::string> gather(const std::string& text);
  // What rank 0 has, on all ranks.
  void broadcast(std::string& text);
  void broadcast(std::span<std::byte> bytes);

  // Adds up over all ranks, in place.
  std::unique_ptr<Pending> begin_sum(std::span<float> values);
  std::unique_ptr<Pending> begin_exchange(const void* sent, std::span<const int64_t> bytes_sent,
                                          void* received,
                                          std::span<const int64_t> bytes_received) override;
  // By begin_exchange, so far, to other ranks.
  int64_t bytes_exchanged() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace egc::distributed
