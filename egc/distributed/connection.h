// Messages between a rank and rank 0 on one TCP connection: first they meet, later they give signs
// of life.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace egc::distributed {

using Clock = std::chrono::steady_clock;

enum class MessageKind : uint8_t {
  kHello = 1,  // "RANK SIZE PORT"; the port tells groups of one machine apart
  kRefused,    // why
  kWelcome,    // the address at which others reach this rank
  kBlocks,     // Rendezvous::swap
  kBeat,       // a sign of life
  kLeave,      // this rank has all it needs
  // The last ones on a line: who reads one closes it.
  kAllLeft,
  kBye,   // the number of a rank that ends, and not by accident
  kLost,  // a rank's number
};

struct Message {
  MessageKind kind = MessageKind::kBeat;
  std::string text;
};

class Connection {
 public:
  Connection() = default;
  explicit Connection(int socket);  // takes ownership
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  bool is_open() const { return socket_ >= 0; }
  int socket() const { return socket_; }
  void close();

  // These never wait. What cannot be sent now is sent by a later pump().
  void post(MessageKind kind, std::string_view text = {});
  // Takes in what has come. False: the other side has ended; what it said before can be taken.
  bool pump();
  // The next whole message. Throws kSystem where the other side speaks another language.
  std::optional<Message> take();

  // Nothing: none came in time. Throws kSystem where the other side has ended.
  std::optional<Message> receive(Clock::time_point deadline);
  // Waits until everything posted is on its way.
  void flush(Clock::time_point deadline);

 private:
  bool send_waiting();

  int socket_ = -1;
  bool ended_ = false;
  std::string in_, out_;
};

// For poll(): rounded up, so that nobody asks again at once.
int milliseconds_until(Clock::time_point deadline);

}  // namespace egc::distributed
