// The rank of a process and the address where its group meets.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace egc::distributed {

// The place of a process in its group.
struct GroupAddress {
  int rank = 0;         // in [0, size)
  int size = 1;         // number of ranks
  std::string address;  // host of rank 0
  int port = 0;         // MASTER_PORT
  // The launcher listens at `port` itself, as torchrun does; the ranks meet at a later port.
  bool launcher_has_port = false;

  // Ports to try, in order: rank 0 listens at the first that is free.
  std::vector<int> ports() const;
};

// Reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them; nothing if none is
// set. Throws kUsage where some are missing or invalid.
std::optional<GroupAddress> address_from_environment();

}  // namespace egc::distributed
