#include "egc/distributed/rendezvous.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "egc/core/error.h"
#include "egc/distributed/socket.h"

namespace egc::distributed {
namespace {

// Texts one after the other, each behind its length.
std::string pack(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    char bytes[sizeof length];
    std::memcpy(bytes, &length, sizeof length);
    out.append(bytes, sizeof bytes).append(text);
  }
  return out;
}

std::vector<std::string> unpack(const std::string& packed, size_t count) {
  std::vector<std::string> out;
  for (size_t at = 0; at < packed.size();) {
    uint32_t length = 0;
    if (packed.size() - at < sizeof length) break;
    std::memcpy(&length, packed.data() + at, sizeof length);
    at += sizeof length;
    if (packed.size() - at < length) break;
    out.push_back(packed.substr(at, length));
    at += length;
  }
  if (out.size() != count) fail(ErrorKind::kSystem, "another program answers there");
  return out;
}

constexpr std::chrono::milliseconds kPause{50};  // between two attempts
// How long rank 0 may take to answer where another program may listen as well.
constexpr std::chrono::seconds kGreeting{5};

// The message of this kind that must come next.
std::string expect_message(Connection& connection, MessageKind kind, int from,
                           Clock::time_point deadline) {
  const std::optional<Message> message = connection.receive(deadline);
  if (!message) fail(ErrorKind::kSystem, "rank {} did not answer in time", from);
  if (message->kind == MessageKind::kRefused) fail(ErrorKind::kSystem, "{}", message->text);
  if (message->kind != kind) fail(ErrorKind::kSystem, "another program answers there");
  return message->text;
}

// The address that rank 0 tells; nothing where another program or another group listens there.
std::optional<std::string> welcome(Connection& connection, Clock::time_point deadline) {
  std::optional<Message> message;
  try {
    message = connection.receive(deadline);
  } catch (const Error&) {
  }
  if (message && message->kind == MessageKind::kRefused)
    fail(ErrorKind::kSystem, "{}", message->text);
  if (!message || message->kind != MessageKind::kWelcome) return std::nullopt;
  return message->text;
}

class Listener {
 public:
  explicit Listener(int socket) : socket_(socket) {}
  ~Listener() { ::close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int socket() const { return socket_; }

 private:
  int socket_;
};

// Of those who have connected and not said yet who they are. False: not a rank of this group.
bool greet(Connection& connection, int port, std::vector<Connection>& ranks) {
  const bool alive = connection.pump();
  const std::optional<Message> hello = connection.take();
  if (!hello) return alive;
  int rank = 0, size = 0, group = 0;
  if (hello->kind != MessageKind::kHello ||
      std::sscanf(hello->text.c_str(), "%d %d %d", &rank, &size, &group) != 3 || group != port)
    return false;
  const int expected = static_cast<int>(ranks.size());
  std::string refused;
  if (size != expected)
    refused = fmt::format("it has a WORLD_SIZE of {}, rank 0 one of {}", size, expected);
  else if (rank < 1 || rank >= size || ranks[static_cast<size_t>(rank)].is_open())
    refused = fmt::format("another process already has rank {}", rank);
  if (!refused.empty()) {
    connection.post(MessageKind::kRefused, refused);
    return false;
  }
  connection.post(MessageKind::kWelcome, address_of_other_side(connection.socket()));
  ranks[static_cast<size_t>(rank)] = std::move(connection);
  return true;
}

}  // namespace

Rendezvous::Rendezvous(const GroupAddress& address, Clock::time_point deadline)
    : rank_(address.rank), size_(address.size) {
  if (rank_ == 0)
    wait_for_others(address, deadline);
  else
    join(address, deadline);
}

void Rendezvous::wait_for_others(const GroupAddress& address, Clock::time_point deadline) {
  const Listener listener(listen_at(address.address, address.ports()));
  connections_.resize(static_cast<size_t>(size_));
  std::vector<Connection> strangers;
  int missing = size_ - 1;
  while (missing > 0) {
    if (Clock::now() >= deadline)
      fail(ErrorKind::kSystem, "timed out waiting for {} other rank{}", missing,
           missing == 1 ? "" : "s");
    std::vector<pollfd> polls = {{listener.socket(), POLLIN, 0}};
    for (const Connection& connection : strangers)
      polls.push_back({connection.socket(), POLLIN, 0});
    poll(polls.data(), polls.size(), milliseconds_until(deadline));
    // Anybody may knock here; who does not speak as a rank does is left standing.
    std::vector<Connection> still;
    for (Connection& connection : strangers) {
      bool waits = false;
      try {
        waits = greet(connection, address.port, connections_);
      } catch (const Error&) {
      }
      if (!waits) continue;
      if (connection.is_open())
        still.push_back(std::move(connection));
      else
        --missing;
    }
    strangers = std::move(still);
    while (true) {
      const int s = accept4(listener.socket(), nullptr, nullptr, SOCK_CLOEXEC);
      if (s < 0) break;
      strangers.emplace_back(s);
    }
  }
  own_address_ = address.address;
  for (const Connection& connection : connections_)
    if (connection.is_open()) own_address_ = address_of_this_side(connection.socket());
}

void Rendezvous::join(const GroupAddress& address, Clock::time_point deadline) {
  const std::vector<int> ports = address.ports();
  std::string reason;
  do {
    for (const int port : ports) {
      Connection connection = try_to_connect(address.address, port, deadline, reason);
      if (!connection.is_open()) continue;
      connection.post(MessageKind::kHello, fmt::format("{} {} {}", rank_, size_, address.port));
      if (ports.size() == 1)
        own_address_ = expect_message(connection, MessageKind::kWelcome, 0, deadline);
      else if (auto address = welcome(connection, std::min(deadline, Clock::now() + kGreeting)))
        own_address_ = *address;
      else
        continue;
      connections_.push_back(std::move(connection));
      return;
    }
    poll(nullptr, 0, static_cast<int>(kPause.count()));
  } while (Clock::now() < deadline);
  fail(ErrorKind::kSystem, "timed out waiting for rank 0 ({})", reason);
}

std::vector<std::string> Rendezvous::swap(const std::vector<std::string>& to,
                                          Clock::time_point deadline) {
  const auto size = static_cast<size_t>(size_);
  if (rank_ != 0) {
    connections_[0].post(MessageKind::kBlocks, pack(to));
    return unpack(expect_message(connections_[0], MessageKind::kBlocks, 0, deadline), size);
  }
  std::vector<std::vector<std::string>> all = {to};
  for (size_t r = 1; r < size; ++r)
    all.push_back(
        unpack(expect_message(connections_[r], MessageKind::kBlocks, static_cast<int>(r), deadline),
               size));
  std::vector<std::string> local;
  for (size_t r = 0; r < size; ++r) {
    std::vector<std::string> block;
    for (const auto& from : all) block.push_back(from[r]);
    if (r == 0)
      local = std::move(block);
    else
      connections_[r].post(MessageKind::kBlocks, pack(block));
  }
  for (Connection& connection : connections_)
    if (connection.is_open()) connection.flush(deadline);
  return local;
}

}  // namespace egc::distributed
