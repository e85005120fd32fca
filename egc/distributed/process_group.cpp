#include "egc/distributed/process_group.h"

#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "egc/core/error.h"
#include "egc/distributed/heartbeats.h"
#include "egc/distributed/mesh.h"
#include "egc/distributed/signals_blocked.h"

namespace egc::distributed {
namespace {

constexpr std::chrono::seconds kJoin{60};

std::string first_line(const char* text) {
  const std::string all = text;
  return all.substr(0, all.find('\n'));
}

// Sums one after the other, in a thread of their own.
class AsyncSums {
 public:
  explicit AsyncSums(std::shared_ptr<Mesh> mesh) : mesh_(std::move(mesh)) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  }
  ~AsyncSums() {
    abort();  // a sum that others take no part in any more must not be waited for
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }

  void abort() { mesh_->abort(); }

  std::future<void> begin(std::span<float> values) {
    std::packaged_task<void()> task([this, values] { sum(values); });
    std::future<void> out = task.get_future();
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
    return out;
  }

 private:
  void sum(std::span<float> values) {
    gloo::AllreduceOptions options(mesh_);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
    options.setTag(tag_++);
    gloo::allreduce(options);
  }
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ended_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::shared_ptr<Mesh> mesh_;
  uint32_t tag_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ended_ = false;
  std::thread thread_;
};

std::vector<Mesh::Piece> one_after_the_other(std::span<const int64_t> bytes) {
  std::vector<Mesh::Piece> out;
  int64_t offset = 0;
  for (const int64_t n : bytes) {
    out.push_back({offset, n});
    offset += n;
  }
  return out;
}

}  // namespace

struct ProcessGroup::Content {
  GroupAddress address;
  // Sums of gradients travel while the backward pass gathers statistics: connections of their own,
  // so that neither waits behind the other's bytes.
  std::shared_ptr<Mesh> sync_mesh;
  std::unique_ptr<AsyncSums> sums;
  std::unique_ptr<Heartbeats> heartbeats;
  int64_t bytes_exchanged = 0;

  template <class F>
  auto guarded(F&& f) {
    try {
      return f();
    } catch (const Error&) {  // of this rank's own making
      throw;
    } catch (const std::exception& e) {
      heartbeats->wait_for_verdict();
      fail(ErrorKind::kSystem, "rank {} of {}: cannot reach the other ranks: {}", address.rank,
           address.size, first_line(e.what()));
    }
  }

  void exchange(const void* sent, std::span<const Mesh::Piece> to, void* received,
                std::span<const Mesh::Piece> from) {
    guarded([&] { sync_mesh->exchange(sent, to, received, from)->wait(); });
  }
};

namespace {

// Waits as the group does, so that a loss is told of.
struct Guarded : BatchGroup::Pending {
  std::function<void()> on_wait;
  void wait() override { on_wait(); }
};

struct GuardedSum : Guarded {
  std::shared_future<void> sum;
  ~GuardedSum() override { sum.wait(); }
};

}  // namespace

ProcessGroup::ProcessGroup(const GroupAddress& address, OnLost on_lost)
    : content_(std::make_unique<Content>()) {
  Content& c = *content_;
  c.address = address;
  const auto deadline = Clock::now() + kJoin;
  try {
    Rendezvous rendezvous(address, deadline);
    const auto device = make_device(rendezvous.own_address());
    c.sync_mesh = std::make_shared<Mesh>(address, device, rendezvous, deadline);
    c.sums =
        std::make_unique<AsyncSums>(std::make_shared<Mesh>(address, device, rendezvous, deadline));
    // Whoever waits for somebody who waits for the lost rank would wait for long.
    auto tell = [&c, on_lost = std::move(on_lost)](const std::string& sentence) {
      on_lost(sentence);
      c.sync_mesh->abort();
      c.sums->abort();
    };
    c.heartbeats = std::make_unique<Heartbeats>(rendezvous.take_connections(), address.rank,
                                                address.size, tell);
  } catch (const std::exception& e) {
    fail(ErrorKind::kSystem, "rank {} of {} cannot join the process group at {}:{}: {}",
         address.rank, address.size, address.address, address.port, first_line(e.what()));
  }
}

ProcessGroup::~ProcessGroup() {
  content_->heartbeats.reset();  // first: the others take closed connections for a loss
}

void ProcessGroup::leave() { content_->heartbeats->leave(); }

int ProcessGroup::rank() const { return content_->address.rank; }
int ProcessGroup::size() const { return content_->address.size; }

std::vector<double> ProcessGroup::gather(std::span<const double> local) {
  const auto bytes = static_cast<int64_t>(local.size_bytes());
  const auto ranks = static_cast<size_t>(size());
  std::vector<double> out(ranks * local.size());
  const std::vector<Mesh::Piece> to(ranks, {0, bytes});
  const std::vector<int64_t> each(ranks, bytes);
  content_->exchange(local.data(), to, out.data(), one_after_the_other(each));
  return out;
}

std::vector<std::string> ProcessGroup::gather(const std::string& text) {
  const auto length = static_cast<double>(text.size());
  std::vector<int64_t> lengths;
  int64_t total = 0;
  for (const double n : gather({&length, 1})) {
    lengths.push_back(static_cast<int64_t>(n));
    total += lengths.back();
  }
  const std::vector<Mesh::Piece> to(lengths.size(), {0, static_cast<int64_t>(text.size())});
  const std::vector<Mesh::Piece> from = one_after_the_other(lengths);
  std::string all(static_cast<size_t>(total), '\0');
  content_->exchange(text.data(), to, all.data(), from);
  std::vector<std::string> out;
  for (const Mesh::Piece& piece : from)
    out.push_back(all.substr(static_cast<size_t>(piece.offset), static_cast<size_t>(piece.bytes)));
  return out;
}

void ProcessGroup::broadcast(std::string& text) {
  text = gather(rank() == 0 ? text : std::string())[0];
}

void ProcessGroup::broadcast(std::span<std::byte> bytes) {
  const auto n = static_cast<int64_t>(bytes.size());
  std::vector<Mesh::Piece> to(static_cast<size_t>(size())), from(to);
  if (rank() == 0)
    for (size_t r = 1; r < to.size(); ++r) to[r].bytes = n;
  else
    from[0].bytes = n;
  content_->exchange(bytes.data(), to, bytes.data(), from);
}

std::unique_ptr<ProcessGroup::Pending> ProcessGroup::begin_sum(std::span<float> values) {
  auto out = std::make_unique<GuardedSum>();
  out->sum = content_->sums->begin(values).share();
  out->on_wait = [c = content_.get(), sum = out->sum] { c->guarded([&] { sum.get(); }); };
  return out;
}

std::unique_ptr<ProcessGroup::Pending> ProcessGroup::begin_exchange(
    const void* sent, std::span<const int64_t> bytes_sent, void* received,
    std::span<const int64_t> bytes_received) {
  for (const int64_t n : bytes_sent) content_->bytes_exchanged += n;
  content_->bytes_exchanged -= bytes_sent[static_cast<size_t>(rank())];
  auto out = std::make_unique<Guarded>();
  std::shared_ptr<Pending> exchange = content_->guarded([&] {
    return content_->sync_mesh->exchange(sent, one_after_the_other(bytes_sent), received,
                                         one_after_the_other(bytes_received));
  });
  out->on_wait = [c = content_.get(), exchange] { c->guarded([&] { exchange->wait(); }); };
  return out;
}

int64_t ProcessGroup::bytes_exchanged() const { return content_->bytes_exchanged; }

}  // namespace egc::distributed
