#include "egc/distributed/meeting.h"

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
// What rank 0 has to greet where another program may listen as well.
constexpr std::chrono::seconds kGreeting{5};

// The message of this kind that must come next.
std::string expect_message(Line& line, Kind kind, int from, Clock::time_point deadline) {
  const std::optional<Message> message = line.receive(deadline);
  if (!message) fail(ErrorKind::kSystem, "rank {} did not answer in time", from);
  if (message->kind == Kind::kRefused) fail(ErrorKind::kSystem, "{}", message->text);
  if (message->kind != kind) fail(ErrorKind::kSystem, "another program answers there");
  return message->text;
}

// The address that rank 0 tells; nothing where another program or another group listens there.
std::optional<std::string> welcome(Line& line, Clock::time_point deadline) {
  std::optional<Message> message;
  try {
    message = line.receive(deadline);
  } catch (const Error&) {
  }
  if (message && message->kind == Kind::kRefused) fail(ErrorKind::kSystem, "{}", message->text);
  if (!message || message->kind != Kind::kWelcome) return std::nullopt;
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
bool greet(Line& line, int port, std::vector<Line>& ranks) {
  const bool alive = line.pump();
  const std::optional<Message> hello = line.take();
  if (!hello) return alive;
  int rank = 0, size = 0, group = 0;
  if (hello->kind != Kind::kHello ||
      std::sscanf(hello->text.c_str(), "%d %d %d", &rank, &size, &group) != 3 || group != port)
    return false;
  const int expected = static_cast<int>(ranks.size());
  std::string refused;
  if (size != expected)
    refused = fmt::format("it was told of {} processes, rank 0 of {}", size, expected);
  else if (rank < 1 || rank >= size || ranks[static_cast<size_t>(rank)].is_open())
    refused = fmt::format("another process is rank {} already", rank);
  if (!refused.empty()) {
    line.post(Kind::kRefused, refused);
    return false;
  }
  line.post(Kind::kWelcome, address_of_other_side(line.socket()));
  ranks[static_cast<size_t>(rank)] = std::move(line);
  return true;
}

}  // namespace

Meeting::Meeting(const GroupAddress& place, Clock::time_point deadline)
    : rank_(place.rank), size_(place.size) {
  if (rank_ == 0)
    wait_for_others(place, deadline);
  else
    join(place, deadline);
}

void Meeting::wait_for_others(const GroupAddress& place, Clock::time_point deadline) {
  const Listener listener(listen_at(place.address, place.ports()));
  lines_.resize(static_cast<size_t>(size_));
  std::vector<Line> strangers;
  int missing = size_ - 1;
  while (missing > 0) {
    if (Clock::now() >= deadline)
      fail(ErrorKind::kSystem, "{} of the others did not come", missing);
    std::vector<pollfd> polls = {{listener.socket(), POLLIN, 0}};
    for (const Line& line : strangers) polls.push_back({line.socket(), POLLIN, 0});
    poll(polls.data(), polls.size(), milliseconds_until(deadline));
    // Anybody may knock here; who does not speak as a rank does is left standing.
    std::vector<Line> still;
    for (Line& line : strangers) {
      bool waits = false;
      try {
        waits = greet(line, place.port, lines_);
      } catch (const Error&) {
      }
      if (!waits) continue;
      if (line.is_open())
        still.push_back(std::move(line));
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
  own_address_ = place.address;
  for (const Line& line : lines_)
    if (line.is_open()) own_address_ = address_of_this_side(line.socket());
}

void Meeting::join(const GroupAddress& place, Clock::time_point deadline) {
  const std::vector<int> ports = place.ports();
  std::string reason;
  do {
    for (const int port : ports) {
      Line line = try_to_connect(place.address, port, deadline, reason);
      if (!line.is_open()) continue;
      line.post(Kind::kHello, fmt::format("{} {} {}", rank_, size_, place.port));
      if (ports.size() == 1)
        own_address_ = expect_message(line, Kind::kWelcome, 0, deadline);
      else if (auto address = welcome(line, std::min(deadline, Clock::now() + kGreeting)))
        own_address_ = *address;
      else
        continue;
      lines_.push_back(std::move(line));
      return;
    }
    poll(nullptr, 0, static_cast<int>(kPause.count()));
  } while (Clock::now() < deadline);
  fail(ErrorKind::kSystem, "rank 0 did not come in time ({})", reason);
}

std::vector<std::string> Meeting::swap(const std::vector<std::string>& to,
                                       Clock::time_point deadline) {
  const auto size = static_cast<size_t>(size_);
  if (rank_ != 0) {
    lines_[0].post(Kind::kBlocks, pack(to));
    return unpack(expect_message(lines_[0], Kind::kBlocks, 0, deadline), size);
  }
  std::vector<std::vector<std::string>> all = {to};
  for (size_t r = 1; r < size; ++r)
    all.push_back(
        unpack(expect_message(lines_[r], Kind::kBlocks, static_cast<int>(r), deadline), size));
  std::vector<std::string> mine;
  for (size_t r = 0; r < size; ++r) {
    std::vector<std::string> block;
    for (const auto& from : all) block.push_back(from[r]);
    if (r == 0)
      mine = std::move(block);
    else
      lines_[r].post(Kind::kBlocks, pack(block));
  }
  for (Line& line : lines_)
    if (line.is_open()) line.flush(deadline);
  return mine;
}

}  // namespace egc::distributed
