#include "egc/distributed/group.h"

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
#include "egc/distributed/mesh.h"
#include "egc/distributed/signals_blocked.h"
#include "egc/distributed/watch.h"

namespace egc::distributed {
namespace {

constexpr std::chrono::seconds kJoin{60};

std::string first_line(const char* text) {
  const std::string all = text;
  return all.substr(0, all.find('\n'));
}

// Sums one after the other, in a thread of their own.
class Sums {
 public:
  explicit Sums(std::shared_ptr<Mesh> mesh) : mesh_(std::move(mesh)) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
  }
  ~Sums() {
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

struct Group::Content {
  GroupAddress place;
  // Sums of gradients travel while the backward pass gathers statistics: connections of their own,
  // so that neither waits behind the other's bytes.
  std::shared_ptr<Mesh> now;
  std::unique_ptr<Sums> sums;
  std::unique_ptr<Watch> watch;
  int64_t bytes_exchanged = 0;

  template <class F>
  auto guarded(F&& f) {
    try {
      return f();
    } catch (const Error&) {  // of this rank's own making
      throw;
    } catch (const std::exception& e) {
      watch->wait_for_verdict();
      fail(ErrorKind::kSystem, "rank {} of {}: the others cannot be reached: {}", place.rank,
           place.size, first_line(e.what()));
    }
  }

  void exchange(const void* sent, std::span<const Mesh::Piece> to, void* received,
                std::span<const Mesh::Piece> from) {
    guarded([&] { now->exchange(sent, to, received, from)->wait(); });
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

Group::Group(const GroupAddress& place, OnLost on_lost) : content_(std::make_unique<Content>()) {
  Content& c = *content_;
  c.place = place;
  const auto deadline = Clock::now() + kJoin;
  try {
    Meeting meeting(place, deadline);
    const auto device = make_device(meeting.own_address());
    c.now = std::make_shared<Mesh>(place, device, meeting, deadline);
    c.sums = std::make_unique<Sums>(std::make_shared<Mesh>(place, device, meeting, deadline));
    // Whoever waits for somebody who waits for the lost rank would wait for long.
    auto tell = [&c, on_lost = std::move(on_lost)](const std::string& sentence) {
      on_lost(sentence);
      c.now->abort();
      c.sums->abort();
    };
    c.watch = std::make_unique<Watch>(meeting.take_lines(), place.rank, place.size, tell);
  } catch (const std::exception& e) {
    fail(ErrorKind::kSystem, "rank {} of {} cannot join the group at {}:{}: {}", place.rank,
         place.size, place.address, place.port, first_line(e.what()));
  }
}

Group::~Group() {
  content_->watch.reset();  // first: the others take closed connections for a loss
}

void Group::leave() { content_->watch->leave(); }

int Group::rank() const { return content_->place.rank; }
int Group::size() const { return content_->place.size; }

std::vector<double> Group::gather(std::span<const double> local) {
  const auto bytes = static_cast<int64_t>(local.size_bytes());
  const auto ranks = static_cast<size_t>(size());
  std::vector<double> out(ranks * local.size());
  const std::vector<Mesh::Piece> to(ranks, {0, bytes});
  const std::vector<int64_t> each(ranks, bytes);
  content_->exchange(local.data(), to, out.data(), one_after_the_other(each));
  return out;
}

std::vector<std::string> Group::gather(const std::string& mine) {
  const auto length = static_cast<double>(mine.size());
  std::vector<int64_t> lengths;
  int64_t total = 0;
  for (const double n : gather({&length, 1})) {
    lengths.push_back(static_cast<int64_t>(n));
    total += lengths.back();
  }
  const std::vector<Mesh::Piece> to(lengths.size(), {0, static_cast<int64_t>(mine.size())});
  const std::vector<Mesh::Piece> from = one_after_the_other(lengths);
  std::string all(static_cast<size_t>(total), '\0');
  content_->exchange(mine.data(), to, all.data(), from);
  std::vector<std::string> out;
  for (const Mesh::Piece& piece : from)
    out.push_back(all.substr(static_cast<size_t>(piece.offset), static_cast<size_t>(piece.bytes)));
  return out;
}

void Group::broadcast(std::string& text) { text = gather(rank() == 0 ? text : std::string())[0]; }

void Group::broadcast(std::span<std::byte> bytes) {
  const auto n = static_cast<int64_t>(bytes.size());
  std::vector<Mesh::Piece> to(static_cast<size_t>(size())), from(to);
  if (rank() == 0)
    for (size_t r = 1; r < to.size(); ++r) to[r].bytes = n;
  else
    from[0].bytes = n;
  content_->exchange(bytes.data(), to, bytes.data(), from);
}

std::unique_ptr<Group::Pending> Group::begin_sum(std::span<float> values) {
  auto out = std::make_unique<GuardedSum>();
  out->sum = content_->sums->begin(values).share();
  out->on_wait = [c = content_.get(), sum = out->sum] { c->guarded([&] { sum.get(); }); };
  return out;
}

std::unique_ptr<Group::Pending> Group::begin_exchange(const void* sent,
                                                      std::span<const int64_t> bytes_sent,
                                                      void* received,
                                                      std::span<const int64_t> bytes_received) {
  for (const int64_t n : bytes_sent) content_->bytes_exchanged += n;
  content_->bytes_exchanged -= bytes_sent[static_cast<size_t>(rank())];
  auto out = std::make_unique<Guarded>();
  std::shared_ptr<Pending> exchange = content_->guarded([&] {
    return content_->now->exchange(sent, one_after_the_other(bytes_sent), received,
                                   one_after_the_other(bytes_received));
  });
  out->on_wait = [c = content_.get(), exchange] { c->guarded([&] { exchange->wait(); }); };
  return out;
}

int64_t Group::bytes_exchanged() const { return content_->bytes_exchanged; }

}  // namespace egc::distributed
