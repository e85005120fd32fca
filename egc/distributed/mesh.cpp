#include "egc/distributed/mesh.h"

#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <cstring>

#include "egc/core/error.h"
#include "egc/distributed/signals_blocked.h"

namespace egc::distributed {
namespace {

// Longer than anything but a loss, which missing heartbeats tell long before.
constexpr std::chrono::minutes kCollective{30};

using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;

struct Exchange : BatchGroup::Pending {
  Buffer sent, received;
  int sending = 0, receiving = 0;
  ~Exchange() override {
    try {
      wait();
    } catch (const std::exception&) {  // a rank is lost: who waits hears of it
    }
  }
  void wait() override {
    for (; receiving > 0; --receiving) received->waitRecv();
    for (; sending > 0; --sending) sent->waitSend();
  }
};

int64_t end_of(std::span<const Mesh::Piece> pieces) {
  int64_t out = 0;
  for (const Mesh::Piece& piece : pieces) out = std::max(out, piece.offset + piece.bytes);
  return out;
}

}  // namespace

std::shared_ptr<gloo::transport::Device> make_device(const std::string& address) {
  const SignalsBlocked blocked;  // its thread takes none
  gloo::transport::tcp::attr attributes;
  attributes.hostname = address;
  return gloo::transport::tcp::CreateDevice(attributes);
}

Mesh::Mesh(const GroupAddress& address, std::shared_ptr<gloo::transport::Device> device,
           Rendezvous& rendezvous, Clock::time_point deadline)
    : gloo::Context(address.rank, address.size) {
  device_ = std::move(device);
  transportContext_ = device_->createContext(rank, size);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  transportContext_->setTimeout(std::max(left, std::chrono::milliseconds(1)));
  std::vector<std::string> addresses(static_cast<size_t>(size));
  for (int r = 0; r < size; ++r) {
    if (r == rank) continue;
    const std::vector<char> bytes = transportContext_->createPair(r)->address().bytes();
    addresses[static_cast<size_t>(r)].assign(bytes.begin(), bytes.end());
  }
  const std::vector<std::string> received_addresses = rendezvous.swap(addresses, deadline);
  for (int r = 0; r < size; ++r) {
    if (r == rank) continue;
    const std::string& address = received_addresses[static_cast<size_t>(r)];
    transportContext_->getPair(r)->connect({address.begin(), address.end()});
  }
  setTimeout(kCollective);
  transportContext_->setTimeout(kCollective);
}

std::unique_ptr<BatchGroup::Pending> Mesh::exchange(const void* sent, std::span<const Piece> to,
                                                    void* received, std::span<const Piece> from) {
  const Piece to_self = to[static_cast<size_t>(rank)], from_self = from[static_cast<size_t>(rank)];
  check(to_self.bytes == from_self.bytes, "exchange: rank {} sends itself {} bytes and receives {}",
        rank, to_self.bytes, from_self.bytes);
  const SignalsBlocked blocked;  // Gloo writes in this thread, maybe to somebody who is gone
  auto out = std::make_unique<Exchange>();
  // Gloo does not write to what it sends.
  out->sent = createUnboundBuffer(const_cast<void*>(sent), static_cast<size_t>(end_of(to)));
  out->received = createUnboundBuffer(received, static_cast<size_t>(end_of(from)));
  const uint64_t slot = next_slot_++;
  for (int r = 0; r < size; ++r) {
    const Piece piece = from[static_cast<size_t>(r)];
    if (r == rank || piece.bytes == 0) continue;
    out->received->recv(r, slot, static_cast<size_t>(piece.offset),
                        static_cast<size_t>(piece.bytes));
    ++out->receiving;
  }
  for (int r = 0; r < size; ++r) {
    const Piece piece = to[static_cast<size_t>(r)];
    if (r == rank || piece.bytes == 0) continue;
    out->sent->send(r, slot, static_cast<size_t>(piece.offset), static_cast<size_t>(piece.bytes));
    ++out->sending;
  }
  if (to_self.bytes > 0)
    std::memcpy(static_cast<char*>(received) + from_self.offset,
                static_cast<const char*>(sent) + to_self.offset,
                static_cast<size_t>(to_self.bytes));
  return out;
}

void Mesh::abort() {
  // closeConnections() wakes nobody; a message that does not come in time fails all others too.
  char byte = 0;
  try {
    createUnboundBuffer(&byte, sizeof byte)->waitRecv(std::chrono::milliseconds(0));
  } catch (const std::exception&) {
  }
}

}  // namespace egc::distributed
