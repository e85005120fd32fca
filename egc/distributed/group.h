// The processes that train one network together, on c10d with Gloo. Every rank calls the collective
// functions in the same order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "egc/ops/batch_group.h"

namespace egc::distributed {

struct GroupPlace {
  int rank = 0;
  int size = 1;
  std::string address;  // of rank 0
  int port = 0;
};

// RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun and its like set them; nothing where
// none of them is set. Throws kUsage where some are missing or make no sense.
std::optional<GroupPlace> place_from_environment();

class Group : public ops::BatchGroup {
 public:
  // What a lost rank (watch.h) is told to; called from a thread of the group's own, once.
  using OnLost = std::function<void(const std::string& sentence)>;

  // Waits for all ranks. Throws kSystem where they do not come together.
  Group(const GroupPlace& place, OnLost on_lost);
  ~Group() override;

  int rank() const override;
  int size() const;

  // When all is done: waits for the others, and is not surprised that they go.
  void leave();

  // Where a rank is lost these do not come back before on_lost was called.
  std::vector<at::Tensor> gather(const at::Tensor& mine) override;
  // Texts of any length.
  std::vector<std::string> gather(const std::string& mine);
  // What rank 0 has, on all ranks.
  std::string from_first(const std::string& text);
  void from_first(at::Tensor& tensor);

  // Adds up over all ranks, in place.
  std::unique_ptr<Pending> begin_sum(at::Tensor tensor);
  std::unique_ptr<Pending> begin_exchange(const at::Tensor& sent, std::span<const int64_t> num_sent,
                                          const at::Tensor& received,
                                          std::span<const int64_t> num_received) override;
  // By begin_exchange, so far, to other ranks.
  int64_t bytes_exchanged() const;

 private:
  struct Content;
  struct Collective;
  std::unique_ptr<Content> content_;
};

}  // namespace egc::distributed
