#include "egc/distributed/group.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "egc/core/error.h"
#include "egc/distributed/watch.h"

namespace egc::distributed {
namespace {

constexpr std::chrono::seconds kJoin{60};
// Longer than anything but a loss, which the watch sees long before.
constexpr std::chrono::minutes kCollective{30};

// torchrun keeps the store itself, at the same address.
bool launcher_has_store() {
  const char* value = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  return value != nullptr && std::string_view(value) == "True";
}

int number_from(const char* name, const char* text, int least, int most) {
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [at, error] = std::from_chars(text, end, value);
  check(error == std::errc() && at == end && value >= least && value <= most,
        "{} must be a whole number from {} to {}, got \"{}\"", name, least, most, text);
  return value;
}

}  // namespace

std::optional<GroupPlace> place_from_environment() {
  constexpr const char* kNames[] = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
  const char* values[std::size(kNames)];
  bool any = false;
  for (size_t k = 0; k < std::size(kNames); ++k) {
    values[k] = std::getenv(kNames[k]);
    any = any || values[k] != nullptr;
  }
  if (!any) return std::nullopt;
  for (size_t k = 0; k < std::size(kNames); ++k)
    check(values[k] != nullptr,
          "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT make a group of processes; {} is not set",
          kNames[k]);
  GroupPlace place;
  place.size = number_from(kNames[1], values[1], 1, 4096);
  place.rank = number_from(kNames[0], values[0], 0, place.size - 1);
  place.address = values[2];
  place.port = number_from(kNames[3], values[3], 1, 65535);
  return place;
}

struct Group::Content {
  GroupPlace place;
  c10::intrusive_ptr<c10d::Store> store;
  // Sums of gradients travel while the backward pass gathers statistics: two groups, so that
  // neither waits in the other's queue.
  c10::intrusive_ptr<c10d::ProcessGroupGloo> now;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> meanwhile;
  std::unique_ptr<Watch> watch;
  int64_t bytes_exchanged = 0;

  template <class F>
  void guarded(F&& f) {
    try {
      f();
    } catch (const std::exception& e) {
      watch->wait_for_verdict();
      const std::string_view text = e.what();
      fail(ErrorKind::kSystem, "rank {} of {}: the others cannot be reached: {}", place.rank,
           place.size, text.substr(0, text.find('\n')));
    }
  }
};

Group::Group(const GroupPlace& place, OnLost on_lost) : content_(std::make_unique<Content>()) {
  Content& c = *content_;
  c.place = place;
  const auto connect = [&] {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(place.port);
    options.isServer = place.rank == 0 && !launcher_has_store();
    options.numWorkers = static_cast<size_t>(place.size);
    options.timeout = kJoin;
    return c10::make_intrusive<c10d::TCPStore>(place.address, options);
  };
  const auto group = [&](const char* name) {
    auto options = c10d::ProcessGroupGloo::Options::create(kCollective);
    options->devices.push_back(place.address == "127.0.0.1" || place.address == "localhost"
                                   ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                   : c10d::ProcessGroupGloo::createDefaultDevice());
    return c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>(name, c.store), place.rank, place.size, options);
  };
  try {
    c.store = connect();
    c.store->setTimeout(kJoin);
    c.now = group("now");
    c.meanwhile = group("meanwhile");
    // A connection of its own: a store answers one question at a time.
    c10d::TCPStoreOptions second;
    second.port = static_cast<uint16_t>(place.port);
    second.waitWorkers = false;
    second.timeout = Watch::kSilence;
    auto store = c10::make_intrusive<c10d::TCPStore>(place.address, second);
    c.watch = std::make_unique<Watch>(std::move(store), place.rank, place.size, std::move(on_lost));
  } catch (const std::exception& e) {
    const std::string_view text = e.what();
    fail(ErrorKind::kSystem, "rank {} of {} cannot join the group at {}:{}: {}", place.rank,
         place.size, place.address, place.port, text.substr(0, text.find('\n')));
  }
  gather(at::zeros({1}));  // all are here
}

Group::~Group() { content_->watch->stop(); }

void Group::leave() {
  content_->watch->stop();
  gather(at::zeros({1}));
}

int Group::rank() const { return content_->place.rank; }
int Group::size() const { return content_->place.size; }

std::vector<at::Tensor> Group::gather(const at::Tensor& mine) {
  std::vector<std::vector<at::Tensor>> all(1);
  for (int r = 0; r < size(); ++r) all[0].push_back(at::empty_like(mine));
  std::vector<at::Tensor> input = {mine.contiguous()};
  content_->guarded([&] { content_->now->allgather(all, input)->wait(); });
  return all[0];
}

std::vector<std::string> Group::gather(const std::string& mine) {
  const auto bytes = static_cast<int64_t>(mine.size());
  int64_t longest = 0;
  std::vector<int64_t> sizes;
  for (const at::Tensor& size : gather(at::full({1}, bytes, at::kLong))) {
    sizes.push_back(size.item<int64_t>());
    longest = std::max(longest, sizes.back());
  }
  at::Tensor padded = at::zeros({std::max<int64_t>(1, longest)}, at::kByte);
  std::memcpy(padded.data_ptr(), mine.data(), mine.size());
  std::vector<std::string> out;
  for (const at::Tensor& text : gather(padded))
    out.emplace_back(static_cast<const char*>(text.data_ptr()), sizes[out.size()]);
  return out;
}

std::string Group::from_first(const std::string& text) {
  return gather(rank() == 0 ? text : std::string())[0];
}

void Group::from_first(at::Tensor& tensor) {
  std::vector<at::Tensor> tensors = {tensor};
  content_->guarded([&] { content_->now->broadcast(tensors)->wait(); });
}

// Keeps the tensors of a collective until it is done.
struct Group::Collective : Pending {
  Content* content = nullptr;
  std::vector<at::Tensor> tensors;
  c10::intrusive_ptr<c10d::Work> work;
  void wait() override {
    content->guarded([&] { work->wait(); });
  }
};

std::unique_ptr<Group::Pending> Group::begin_sum(at::Tensor tensor) {
  auto out = std::make_unique<Collective>();
  out->content = content_.get();
  out->tensors = {std::move(tensor)};
  content_->guarded([&] { out->work = content_->meanwhile->allreduce(out->tensors); });
  return out;
}

std::unique_ptr<Group::Pending> Group::begin_exchange(const at::Tensor& sent,
                                                      std::span<const int64_t> num_sent,
                                                      const at::Tensor& received,
                                                      std::span<const int64_t> num_received) {
  auto out = std::make_unique<Collective>();
  out->content = content_.get();
  out->tensors = {sent, received};
  std::vector<int64_t> to(num_sent.begin(), num_sent.end());
  std::vector<int64_t> from(num_received.begin(), num_received.end());
  content_->bytes_exchanged += static_cast<int64_t>(sent.nbytes());
  content_->guarded([&] {
    out->work = content_->now->alltoall_base(out->tensors[1], out->tensors[0], from, to);
  });
  return out;
}

int64_t Group::bytes_exchanged() const { return content_->bytes_exchanged; }

}  // namespace egc::distributed
