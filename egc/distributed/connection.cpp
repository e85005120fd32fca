#include "egc/distributed/connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "egc/core/error.h"

namespace egc::distributed {
namespace {

// Before every message: these letters, its kind, the length of its text.
constexpr std::string_view kMagic = "egc1";
constexpr size_t kHeader = kMagic.size() + 1 + sizeof(uint32_t);
constexpr uint32_t kLongest = 1 << 26;

}  // namespace

Connection::Connection(int socket) : socket_(socket) {
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Connection::Connection(Connection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      ended_(other.ended_),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  close();
  socket_ = std::exchange(other.socket_, -1);
  ended_ = other.ended_;
  in_ = std::move(other.in_);
  out_ = std::move(other.out_);
  return *this;
}

Connection::~Connection() { close(); }

void Connection::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void Connection::post(MessageKind kind, std::string_view text) {
  if (!is_open()) return;
  // Somebody who does not read needs no second sign of life.
  if (kind == MessageKind::kBeat && !out_.empty()) return;
  const auto length = static_cast<uint32_t>(text.size());
  char bytes[sizeof length];
  std::memcpy(bytes, &length, sizeof length);
  out_.append(kMagic).append(1, static_cast<char>(kind)).append(bytes, sizeof bytes).append(text);
  send_waiting();
}

bool Connection::send_waiting() {
  while (!out_.empty()) {
    const ssize_t n = ::send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    out_.erase(0, static_cast<size_t>(n));
  }
  return true;
}

bool Connection::pump() {
  if (!is_open()) return false;
  // What a peer that has ended said last is read before that is noticed.
  const bool sent = send_waiting();
  char block[1 << 16];
  while (!ended_) {
    const ssize_t n = recv(socket_, block, sizeof block, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n <= 0)
      ended_ = true;
    else
      in_.append(block, static_cast<size_t>(n));
  }
  return sent && !ended_;
}

std::optional<Message> Connection::take() {
  const size_t known = std::min(in_.size(), kMagic.size());
  uint32_t length = 0;
  if (in_.size() >= kHeader) std::memcpy(&length, in_.data() + kMagic.size() + 1, sizeof length);
  if (in_.compare(0, known, kMagic, 0, known) != 0 || length > kLongest)
    fail(ErrorKind::kSystem, "another program answers there");
  if (in_.size() < kHeader || in_.size() < kHeader + length) return std::nullopt;
  Message out{static_cast<MessageKind>(in_[kMagic.size()]), in_.substr(kHeader, length)};
  in_.erase(0, kHeader + length);
  return out;
}

std::optional<Message> Connection::receive(Clock::time_point deadline) {
  for (;;) {
    const bool alive = pump();
    if (auto message = take()) return message;
    if (!alive) fail(ErrorKind::kSystem, "the connection was closed");
    if (Clock::now() >= deadline) return std::nullopt;
    pollfd p{socket_, static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    poll(&p, 1, milliseconds_until(deadline));
  }
}

void Connection::flush(Clock::time_point deadline) {
  while (send_waiting() && !out_.empty() && Clock::now() < deadline) {
    pollfd p{socket_, POLLOUT, 0};
    poll(&p, 1, milliseconds_until(deadline));
  }
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
}

}  // namespace egc::distributed
