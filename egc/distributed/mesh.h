// Connections between all ranks of a group, by Gloo. What is sent is on its way while the caller
// does something else.
#pragma once

#include <gloo/context.h>
#include <gloo/transport/device.h>

#include <memory>
#include <span>

#include "egc/distributed/rendezvous.h"
#include "egc/graph/batch_group.h"

namespace egc::distributed {

std::shared_ptr<gloo::transport::Device> make_device(const std::string& address);

class Mesh : public gloo::Context {
 public:
  // Every rank makes its meshes in the same order.
  Mesh(const GroupAddress& address, std::shared_ptr<gloo::transport::Device> device,
       Rendezvous& rendezvous, Clock::time_point deadline);

  // What stands in a buffer for, or from, each rank.
  struct Piece {
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  std::unique_ptr<BatchGroup::Pending> exchange(const void* sent, std::span<const Piece> to,
                                                void* received, std::span<const Piece> from);

  // Whoever waits for something, in any thread, gets an error; so does everything from here on.
  void abort();

 private:
  uint64_t next_slot_ = 0;
};

}  // namespace egc::distributed
