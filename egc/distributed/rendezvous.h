// How the processes of a group find each other: every rank has a line to rank 0, over which they
// exchange what they need to reach each other directly.
#pragma once

#include <string>
#include <vector>

#include "egc/distributed/address.h"
#include "egc/distributed/connection.h"

namespace egc::distributed {

class Rendezvous {
 public:
  // Waits for all ranks. Throws kSystem with the reason alone where they do not come in time.
  Rendezvous(const GroupAddress& address, Clock::time_point deadline);

  // The address of this rank's machine at which the others reach it.
  const std::string& own_address() const { return own_address_; }

  // One text to every rank, and the texts that came from every rank.
  std::vector<std::string> swap(const std::vector<std::string>& to, Clock::time_point deadline);

  // Of rank 0 to rank k at k, its own is closed; of others the only one, to rank 0.
  std::vector<Connection> take_connections() { return std::move(connections_); }

 private:
  void wait_for_others(const GroupAddress& address, Clock::time_point deadline);
  void join(const GroupAddress& address, Clock::time_point deadline);

  int rank_;
  int size_;
  std::string own_address_;
  std::vector<Connection> connections_;
};

}  // namespace egc::distributed
