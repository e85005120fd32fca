// TCP sockets by name and port, IPv4 or IPv6. All throw kSystem with the reason alone.
#pragma once

#include <span>
#include <string>

#include "egc/distributed/connection.h"

namespace egc::distributed {

// At the first of the ports that nobody uses. On the loopback interface where the address is of it,
// on all interfaces else: the name of this machine may mean something else here (127.0.1.1) than
// elsewhere.
int listen_at(const std::string& address, std::span<const int> ports);

// One attempt. A closed connection and the reason where nobody listens.
Connection try_to_connect(const std::string& address, int port, Clock::time_point deadline,
                          std::string& reason);

std::string address_of_this_side(int socket);
std::string address_of_other_side(int socket);
bool is_loopback(const std::string& address);

}  // namespace egc::distributed
