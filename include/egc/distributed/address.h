// Which process of a group this one is, and where the group meets.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace egc::distributed {

struct GroupAddress {
  int rank = 0;
  int size = 1;
  std::string address;  // of rank 0
  int port = 0;
  // The launcher listens at `port` itself, as torchrun does: the ranks meet at one after it.
  bool launcher_has_port = false;

  // Where rank 0 listens: at the first of them that no other program uses.
  std::vector<int> ports() const;
};

// RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun and its like set them; nothing where
// none of them is set. Throws kUsage where some are missing or make no sense.
std::optional<GroupAddress> address_from_environment();

}  // namespace egc::distributed
