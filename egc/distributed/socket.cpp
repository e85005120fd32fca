#include "egc/distributed/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "egc/core/error.h"

namespace egc::distributed {
namespace {

constexpr std::chrono::seconds kAttempt{5};

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Null name: any interface.
int look_up(const char* name, int port, Addresses& out) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (name == nullptr ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(name, std::to_string(port).c_str(), &hints, &found);
  if (error == 0) out.reset(found);
  return error;
}

// -1 and errno where it fails. Children must not inherit it: they would keep a connection open
// whose process has ended.
int open_socket(const addrinfo& a) {
  return socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC, a.ai_protocol);
}

int listen_on(const addrinfo& a) {
  const int s = open_socket(a);
  if (s < 0) return -1;
  const int on = 1, off = 0;
  setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (a.ai_family == AF_INET6) setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  // Who has knocked may be gone again when the door is opened: accept() must not wait.
  fcntl(s, F_SETFL, fcntl(s, F_GETFL) | O_NONBLOCK);
  if (bind(s, a.ai_addr, a.ai_addrlen) == 0 && listen(s, SOMAXCONN) == 0) return s;
  const int error = errno;
  close(s);
  errno = error;
  return -1;
}

// 0, or errno.
int connect_on(const Connection& connection, const addrinfo& a, Clock::time_point deadline) {
  if (connect(connection.socket(), a.ai_addr, a.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  pollfd p{connection.socket(), POLLOUT, 0};
  if (poll(&p, 1, milliseconds_until(std::min(deadline, Clock::now() + kAttempt))) <= 0)
    return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(connection.socket(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

// Where nobody listens at a port that the system also gives to clients, it may give a client that
// very port, and connect it to itself.
bool is_own_peer(const Connection& connection) {
  sockaddr_storage ends[2] = {};
  socklen_t sizes[2] = {sizeof ends[0], sizeof ends[1]};
  getsockname(connection.socket(), reinterpret_cast<sockaddr*>(&ends[0]), &sizes[0]);
  getpeername(connection.socket(), reinterpret_cast<sockaddr*>(&ends[1]), &sizes[1]);
  return std::memcmp(&ends[0], &ends[1], sizeof ends[0]) == 0;
}

std::string text_of(const sockaddr_storage& address, socklen_t size) {
  char name[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, name, sizeof name, nullptr, 0,
              NI_NUMERICHOST);
  const std::string text = name;
  constexpr std::string_view kMapped = "::ffff:";  // IPv4 on a socket of IPv6
  return text.starts_with(kMapped) ? text.substr(kMapped.size()) : text;
}

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

// -1 where another program uses the port.
int listen_at(const std::string& address, int port) {
  Addresses found(nullptr, freeaddrinfo);
  if (const int error = look_up(is_loopback(address) ? address.c_str() : nullptr, port, found))
    fail(ErrorKind::kSystem, "cannot resolve the address \"{}\": {}", address, gai_strerror(error));
  int reason = 0;
  // IPv6 first where any interface will do: such a socket serves both.
  for (const bool six : {true, false})
    for (const addrinfo* a = found.get(); a != nullptr; a = a->ai_next) {
      if ((a->ai_family == AF_INET6) != six) continue;
      if (const int s = listen_on(*a); s >= 0) return s;
      reason = errno;
      if (reason == EADDRINUSE) return -1;
    }
  fail(ErrorKind::kSystem, "cannot listen there: {}", std::strerror(reason));
}

}  // namespace

int listen_at(const std::string& address, std::span<const int> ports) {
  for (const int port : ports)
    if (const int s = listen_at(address, port); s >= 0) return s;
  if (ports.size() == 1)
    fail(ErrorKind::kSystem, "another program uses port {} of this machine", ports[0]);
  fail(ErrorKind::kSystem, "other programs use all ports of this machine from {} to {}",
       std::min(ports.front(), ports.back()), std::max(ports.front(), ports.back()));
}

Connection try_to_connect(const std::string& address, int port, Clock::time_point deadline,
                          std::string& reason) {
  Addresses found(nullptr, freeaddrinfo);
  const int unknown = look_up(address.c_str(), port, found);
  if (unknown != 0 && unknown != EAI_AGAIN)
    fail(ErrorKind::kSystem, "cannot resolve the address \"{}\": {}", address,
         gai_strerror(unknown));
  if (unknown != 0) reason = gai_strerror(unknown);
  for (const addrinfo* a = found.get(); a != nullptr; a = a->ai_next) {
    const int s = open_socket(*a);
    if (s < 0) continue;
    Connection connection(s);
    int error = connect_on(connection, *a, deadline);
    if (error == 0 && is_own_peer(connection)) error = ECONNREFUSED;
    if (error == 0) return connection;
    reason = std::strerror(error);
  }
  return {};
}

std::string address_of_this_side(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return text_of(address, size);
}

std::string address_of_other_side(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return text_of(address, size);
}

}  // namespace egc::distributed
