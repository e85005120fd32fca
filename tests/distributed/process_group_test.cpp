// Groups whose ranks are threads of this process, or processes where one is to be lost; how they
// meet, and who disturbs that.
#include "egc/distributed/process_group.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <limits>
#include <map>
#include <numeric>
#include <thread>

#include "egc/core/error.h"
#include "egc/core/rng.h"
#include "egc/distributed/connection.h"
#include "egc/distributed/gradient_sum.h"
#include "egc/distributed/rendezvous.h"
#include "egc/distributed/signals_blocked.h"
#include "tests/core/expect_error.h"

namespace egc::distributed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::expect_error;

constexpr const char* kHere = "127.0.0.1";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Clock::time_point after(milliseconds time) { return Clock::now() + time; }

void sleep(milliseconds time) { std::this_thread::sleep_for(time); }

sockaddr_in address_of(int port) {
  sockaddr_in out = {};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<uint16_t>(port));
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

// A socket of another program.
class Stranger {
 public:
  Stranger() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  Stranger(Stranger&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~Stranger() { end(); }

  int listen() {  // at a port that nobody uses
    sockaddr_in address = address_of(0);
    socklen_t size = sizeof address;
    const auto any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(socket_, any, size) | ::listen(socket_, 8) | getsockname(socket_, any, &size),
              0);
    return ntohs(address.sin_port);
  }
  void say_to_who_comes(const std::string& text) {
    const int peer = accept(socket_, nullptr, nullptr);
    EXPECT_EQ(::send(peer, text.data(), text.size(), 0), std::ssize(text));
    end();
    socket_ = peer;
  }
  void connect(int port) {
    const sockaddr_in address = address_of(port);
    const auto deadline = after(seconds(5));
    while (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ASSERT_LT(Clock::now(), deadline) << std::strerror(errno);
      sleep(milliseconds(5));
    }
  }
  void say(const std::string& text) {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
  }
  void end() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
};

int free_port() { return Stranger().listen(); }

// Ends the program where `f` hangs: no test could go on.
void expect_end_within(seconds limit, const std::function<void()>& f) {
  std::packaged_task<void()> task(f);
  std::future<void> done = task.get_future();
  std::thread thread(std::move(task));
  if (done.wait_for(limit) == std::future_status::timeout) {
    fmt::print(stderr, "it hangs\n");
    std::abort();
  }
  thread.join();
  done.get();
}

// What a rank heard, and what ended it.
struct Fate {
  std::vector<std::string> told;
  std::string error;
};

// Each rank in a thread of its own.
std::vector<Fate> run_ranks(int size, const std::function<void(ProcessGroup&)>& f) {
  const int port = free_port();
  std::vector<Fate> fates(static_cast<size_t>(size));
  expect_end_within(seconds(60), [&] {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        Fate& fate = fates[static_cast<size_t>(rank)];
        try {
          ProcessGroup group({rank, size, kHere, port},
                             [&](const std::string& sentence) { fate.told.push_back(sentence); });
          f(group);
        } catch (const Error& e) {
          fate.error = e.what();
          EXPECT_EQ(e.kind(), ErrorKind::kSystem) << e.what();
        }
      });
  });
  return fates;
}

void run_group(int size, const std::function<void(ProcessGroup&)>& f) {
  const auto fates = run_ranks(size, [&](ProcessGroup& group) {
    f(group);
    group.leave();
  });
  for (const Fate& fate : fates) {
    EXPECT_EQ(fate.error, "");
    EXPECT_TRUE(fate.told.empty()) << fate.told[0];
  }
}

class Sizes : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Sizes, ::testing::Values(1, 2, 3, 5));

TEST_P(Sizes, GatherIsInOrderOfTheRanks) {
  run_group(GetParam(), [&](ProcessGroup& group) {
    EXPECT_EQ(group.size(), GetParam());
    for (const size_t n : {0, 1, 7, 5000}) {
      std::vector<double> mine(n);
      std::iota(mine.begin(), mine.end(), 1e4 * group.rank());
      const std::vector<double> all = group.gather(mine);
      ASSERT_EQ(all.size(), n * static_cast<size_t>(group.size()));
      for (size_t k = 0; k < all.size(); ++k)
        ASSERT_EQ(all[k], 1e4 * static_cast<double>(k / n) + static_cast<double>(k % n));
    }
  });
}

// Of any length, none too.
std::string text_of(int rank, int round) {
  const size_t lengths[] = {0, 1, 300, 3'000'000};
  return std::string(lengths[(rank + round) % 4], static_cast<char>('a' + rank)) + '\0';
}

TEST_P(Sizes, TextsOfAnyLengthAreGatheredAndBroadcast) {
  run_group(GetParam(), [](ProcessGroup& group) {
    for (int round = 0; round < 4; ++round) {
      std::string mine = text_of(group.rank(), round);
      if (round == 3 && group.rank() == 1) mine.clear();
      const std::vector<std::string> all = group.gather(mine);
      ASSERT_EQ(std::ssize(all), group.size());
      for (int r = 0; r < group.size(); ++r)
        EXPECT_TRUE(all[static_cast<size_t>(r)] == (round == 3 && r == 1 ? "" : text_of(r, round)))
            << r;
      group.broadcast(mine);
      EXPECT_TRUE(mine == text_of(0, round));
    }
    for (const size_t n : {0, 1, 100'001}) {
      std::vector<std::byte> bytes(n, static_cast<std::byte>(7 + group.rank()));
      group.broadcast(std::span(bytes));
      EXPECT_EQ(bytes, std::vector(n, std::byte{7}));
    }
  });
}

TEST_P(Sizes, SumsAreTheSameBitsOnAllRanks) {
  run_group(GetParam(), [](ProcessGroup& group) {
    for (const size_t n : {0, 1, 2, 3, 17, 1000, 300'001}) {
      std::vector<double> want(n);
      std::vector<float> mine(n);
      for (int r = 0; r < group.size(); ++r) {
        Rng rng(3, static_cast<uint64_t>(r));
        for (size_t k = 0; k < n; ++k) {
          const float v = rng.uniform() - 0.5F;
          want[k] += v;
          if (r == group.rank()) mine[k] = v;
        }
      }
      group.begin_sum(mine)->wait();
      for (size_t k = 0; k < n; ++k) ASSERT_NEAR(mine[k], want[k], 1e-6) << k << " of " << n;
      const std::string bits(reinterpret_cast<const char*>(mine.data()), n * sizeof(float));
      for (const std::string& other : group.gather(bits)) EXPECT_TRUE(other == bits) << n;
    }
  });
}

// AsyncSums travel while the main thread does other things, and may be waited for in any order.
TEST_P(Sizes, SumsGoOnBesideEverythingElse) {
  run_group(GetParam(), [](ProcessGroup& group) {
    std::vector<std::vector<float>> values;
    std::vector<std::unique_ptr<ProcessGroup::Pending>> sums;
    for (int k = 0; k < 20; ++k) {
      values.emplace_back(static_cast<size_t>(1 + k * 1000), static_cast<float>(k + group.rank()));
      sums.push_back(group.begin_sum(values.back()));
      const double mine = k;
      EXPECT_EQ(group.gather({&mine, 1}).back(), k);
    }
    const int n = group.size();
    for (int k = 20; k-- > 0;) {
      sums[static_cast<size_t>(k)]->wait();
      EXPECT_EQ(values[static_cast<size_t>(k)],
                std::vector(static_cast<size_t>(1 + k * 1000),
                            static_cast<float>(k * n + n * (n - 1) / 2)));
    }
  });
}

// Bytes from one rank to another in a round; of some none.
int64_t bytes_between(int from, int to, int round) {
  if ((from + to + round) % 3 == 0) return 0;
  return 1 + from * 7 + to * 1000 * round * round;
}

TEST_P(Sizes, ExchangesOfUnevenSizes) {
  run_group(GetParam(), [](ProcessGroup& group) {
    const int me = group.rank();
    constexpr int kRounds = 12;
    struct Round {
      std::vector<int64_t> to, from;
      std::string sent, received, want;
      std::unique_ptr<ProcessGroup::Pending> pending;
    };
    std::vector<Round> rounds(kRounds);
    int64_t bytes = 0;
    for (int k = 0; k < kRounds; ++k) {
      Round& round = rounds[static_cast<size_t>(k)];
      for (int r = 0; r < group.size(); ++r) {
        const auto letter = [&](int from, int to) {
          return static_cast<char>('a' + (from * 5 + to + k) % 26);
        };
        round.to.push_back(bytes_between(me, r, k));
        round.from.push_back(bytes_between(r, me, k));
        round.sent.append(static_cast<size_t>(round.to.back()), letter(me, r));
        round.want.append(static_cast<size_t>(round.from.back()), letter(r, me));
        if (r != me) bytes += round.to.back();
      }
      round.received.assign(round.want.size(), '?');
      round.pending =
          group.begin_exchange(round.sent.data(), round.to, round.received.data(), round.from);
      if (k % 4 == 1) group.gather(std::string("between"));
    }
    for (const int k : {3, 0, 11, 1, 2, 10, 9, 4, 5}) {  // the others when they end
      Round& round = rounds[static_cast<size_t>(k)];
      round.pending->wait();
      round.pending->wait();  // once is enough
      EXPECT_TRUE(round.received == round.want) << k;
    }
    for (Round& round : rounds) {
      round.pending.reset();
      EXPECT_TRUE(round.received == round.want);
    }
    EXPECT_EQ(group.bytes_exchanged(), bytes);
  });
}

TEST(ProcessGroup, ASumThatNobodyWaitsForIsCompleteWhenItEnds) {
  run_group(3, [](ProcessGroup& group) {
    std::vector<float> values(1'000'000, 1);
    { const auto pending = group.begin_sum(values); }
    EXPECT_EQ(values, std::vector<float>(values.size(), 3));
  });
}

TEST(ProcessGroup, WhoSendsItselfSomethingElseIsRefused) {
  run_group(2, [](ProcessGroup& group) {
    const std::vector<int64_t> two = {2, 2}, three = {3, 3};
    char buffer[6] = {};
    expect_error(ErrorKind::kUsage, {"sends itself 2 bytes and receives 3"},
                 [&] { group.begin_exchange(buffer, two, buffer, three); });
  });
}

TEST(ProcessGroup, LeavingWaitsForAll) {
  const auto start = Clock::now();
  run_group(3, [&](ProcessGroup& group) {
    if (group.rank() == 1) sleep(milliseconds(300));
    group.leave();
    EXPECT_GE(seconds_since(start), 0.3);
    // And nobody minds who goes first.
    sleep(milliseconds(100 * group.rank()));
  });
}

// In parallel: who ends is waited for before it is told of.
TEST(ProcessGroup, WhoEndsBeforeTheOthersIsToldOf) {
  const auto start = Clock::now();
  std::vector<std::jthread> groups;
  for (const int size : {2, 3})
    for (int who = 0; who < size; ++who)
      groups.emplace_back([size, who] {
        const auto fates = run_ranks(size, [&](ProcessGroup& group) {
          if (group.rank() == who) return;
          const double mine = 1;
          group.gather({&mine, 1});
          ADD_FAILURE() << "gathered from a rank that has ended";
        });
        for (int r = 0; r < size; ++r) {
          const Fate& fate = fates[static_cast<size_t>(r)];
          if (r == who) {
            EXPECT_EQ(fate.error, "");
            EXPECT_TRUE(fate.told.empty());
            continue;
          }
          EXPECT_EQ(fate.told,
                    std::vector{fmt::format(
                        "rank {} of {} exited before the others; this is rank {}", who, size, r)});
          EXPECT_TRUE(fate.error.starts_with(
              fmt::format("rank {} of {}: cannot reach the other ranks", r, size)))
              << fate.error;
        }
      });
  groups.clear();
  EXPECT_LT(seconds_since(start), 8);
}

// As after an error that all of them find.
TEST(ProcessGroup, AllMayEndAtOnce) {
  for (const auto& fates :
       {run_ranks(3, [](ProcessGroup&) {}),
        run_ranks(3, [](ProcessGroup& group) { sleep(milliseconds(300 * group.rank())); })})
    for (const Fate& fate : fates) {
      EXPECT_TRUE(fate.told.empty()) << fate.told[0];
      EXPECT_EQ(fate.error, "");
    }
}

// Rank 1 takes part in nothing; what others have begun must not keep them.
TEST(ProcessGroup, ItsEndNeverHangs) {
  for (const bool waits : {false, true}) {
    const auto start = Clock::now();
    run_ranks(3, [&](ProcessGroup& group) {
      if (group.rank() == 1) {
        sleep(milliseconds(200));
        return;
      }
      std::vector<float> values(1 << 18);
      std::string to(3 << 20, 'a'), from(3 << 20, 'b');
      const std::vector<int64_t> bytes(3, 1 << 20);
      const auto exchange = group.begin_exchange(to.data(), bytes, from.data(), bytes);
      const auto sum = group.begin_sum(values);
      const auto next = group.begin_sum(values);
      if (waits) sum->wait();
    });
    EXPECT_LT(seconds_since(start), 6);
  }
}

// Rank 0 waits for rank 2, which is there and does something else; without rank 1 it is in vain.
TEST(ProcessGroup, ALossEndsAllWaiting) {
  for (const bool sums : {true, false}) {
    const auto start = Clock::now();
    const auto fates = run_ranks(3, [&](ProcessGroup& group) {
      if (group.rank() == 1) return;
      if (group.rank() == 2) return sleep(seconds(6));
      std::vector<float> values(1000);
      const std::vector<int64_t> none = {0, 0, 0}, some = {0, 0, 4000};
      const auto pending =
          sums ? group.begin_sum(values) : group.begin_exchange(nullptr, none, values.data(), some);
      try {
        pending->wait();
        ADD_FAILURE() << "nobody has sent anything";
      } catch (const Error&) {
        EXPECT_LT(seconds_since(start), 5);
        throw;
      }
    });
    for (const int rank : {0, 2})
      EXPECT_EQ(fates[static_cast<size_t>(rank)].told.size(), 1U) << "rank " << rank;
  }
}

// Processes. What they say comes through a pipe, connection after connection.
class Processes {
 public:
  // f's result is the process's exit code.
  Processes(int size, const std::function<int(ProcessGroup&)>& f) {
    const int port = free_port();
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    for (int rank = 0; rank < size; ++rank) {
      const pid_t pid = fork();
      if (pid == 0) _exit(be_rank({rank, size, kHere, port}, pipe_ends[1], f));
      pids_.push_back(pid);
    }
    close(pipe_ends[1]);
    connections_ = fdopen(pipe_ends[0], "r");
  }
  ~Processes() {
    for (const pid_t pid : pids_)
      if (pid > 0) kill(pid, SIGKILL);
    for (size_t r = 0; r < pids_.size(); ++r) code(static_cast<int>(r));
    fclose(connections_);
  }

  void signal(int rank, int number) {
    const pid_t pid = pids_[static_cast<size_t>(rank)];
    ASSERT_GT(pid, 0);
    kill(pid, number);
  }
  std::string connection() {
    char text[1000] = "";
    if (fgets(text, sizeof text, connections_) == nullptr) return "the end";
    return std::string(text, std::strcspn(text, "\n"));
  }
  std::vector<std::string> connections(size_t count) {
    std::vector<std::string> out;
    for (size_t k = 0; k < count; ++k) out.push_back(connection());
    std::sort(out.begin(), out.end());
    return out;
  }
  // 128 and the number of a signal.
  int code(int rank) {
    pid_t& pid = pids_[static_cast<size_t>(rank)];
    int status = 0;
    if (pid <= 0 || waitpid(pid, &status, 0) != pid) return -1;
    pid = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  static void say(int to, const std::string& text) {
    static_cast<void>(!write(to, (text + "\n").data(), text.size() + 1));
  }
  static int be_rank(const GroupAddress& address, int to,
                     const std::function<int(ProcessGroup&)>& f) {
    try {
      ProcessGroup group(address, [&](const std::string& sentence) {
        say(to, sentence);
        _exit(static_cast<int>(ErrorKind::kSystem));
      });
      say(to, "here");
      return f(group);
    } catch (const std::exception& e) {
      say(to, e.what());
      return 1;
    }
  }

  std::vector<pid_t> pids_;
  FILE* connections_ = nullptr;
};

// Sends and receives without end.
int keep_exchanging(ProcessGroup& group) {
  const std::vector<int64_t> bytes(static_cast<size_t>(group.size()), 10'000);
  std::string to(static_cast<size_t>(group.size()) * 10'000, 'a'), from = to;
  std::vector<float> values(1000);
  for (;;) {
    const auto sum = group.begin_sum(values);
    group.begin_exchange(to.data(), bytes, from.data(), bytes)->wait();
    sum->wait();
  }
}

TEST(GroupOfProcesses, AKilledOneIsNamedAtOnce) {
  for (const auto& [size, victim] : {std::pair(2, 0), {2, 1}, {3, 0}, {3, 1}, {5, 3}})
    for (const bool works : {true, false}) {
      Processes ranks(size, [works, lost = victim](ProcessGroup& group) {
        if (works) return keep_exchanging(group);
        if (group.rank() != lost) group.leave();
        return pause();
      });
      EXPECT_EQ(ranks.connections(static_cast<size_t>(size)),
                std::vector<std::string>(static_cast<size_t>(size), "here"));
      sleep(milliseconds(50));
      const auto start = Clock::now();
      ranks.signal(victim, SIGKILL);
      std::vector<std::string> want;
      for (int r = 0; r < size; ++r)
        if (r != victim)
          want.push_back(
              fmt::format("rank {} of {} is lost: no heartbeat; this is rank {}", victim, size, r));
      EXPECT_EQ(ranks.connections(want.size()), want);
      EXPECT_LT(seconds_since(start), 1.5);
      for (int r = 0; r < size; ++r) EXPECT_EQ(ranks.code(r), r == victim ? 128 + SIGKILL : 5) << r;
    }
}

// The only sign of it is silence.
TEST(GroupOfProcesses, AStoppedOneIsNamedAfterTenSeconds) {
  Processes ranks(3, keep_exchanging);
  EXPECT_EQ(ranks.connections(3), std::vector<std::string>(3, "here"));
  const auto start = Clock::now();
  ranks.signal(2, SIGSTOP);
  EXPECT_EQ(ranks.connections(2),
            (std::vector<std::string>{"rank 2 of 3 is lost: no heartbeat; this is rank 0",
                                      "rank 2 of 3 is lost: no heartbeat; this is rank 1"}));
  EXPECT_GT(seconds_since(start), 9);
  EXPECT_LT(seconds_since(start), 13);
}

// All come at once. What the rendezvous of each ended with.
std::vector<std::string> meet(const std::vector<GroupAddress>& places, milliseconds time,
                              const std::function<void(Rendezvous&)>& f = {}) {
  std::vector<std::string> errors(places.size());
  expect_end_within(seconds(20), [&] {
    std::vector<std::jthread> threads;
    for (size_t k = 0; k < places.size(); ++k)
      threads.emplace_back([&, k] {
        try {
          Rendezvous rendezvous(places[k], after(time));
          if (f) f(rendezvous);
        } catch (const Error& e) {
          errors[k] = e.what();
          EXPECT_EQ(e.kind(), ErrorKind::kSystem) << e.what();
        }
      });
  });
  return errors;
}

std::vector<GroupAddress> places(int size, int port) {
  std::vector<GroupAddress> out;
  for (int r = 0; r < size; ++r) out.push_back({r, size, kHere, port});
  return out;
}

TEST_P(Sizes, MeetAndSwap) {
  const int port = free_port();
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < GetParam(); ++rank)
    ranks.emplace_back([&, rank] {
      sleep(milliseconds(20 * ((rank + 1) % GetParam())));  // rank 0 is not the first
      const auto deadline = after(seconds(10));
      Rendezvous rendezvous({rank, GetParam(), kHere, port}, deadline);
      EXPECT_EQ(rendezvous.own_address(), kHere);
      for (int round = 0; round < 3; ++round) {
        std::vector<std::string> to, want;
        for (int r = 0; r < GetParam(); ++r) {
          to.push_back(fmt::format("{} to {} in {}", rank, r, round) +
                       std::string(static_cast<size_t>(round) * 100'000, '\0'));
          want.push_back(fmt::format("{} to {} in {}", r, rank, round) +
                         std::string(static_cast<size_t>(round) * 100'000, '\0'));
        }
        if (round == 1) to[0] = "";
        if (round == 1 && rank == 0) std::fill(want.begin(), want.end(), "");
        EXPECT_TRUE(rendezvous.swap(to, deadline) == want) << rank << " " << round;
      }
    });
}

TEST(Rendezvous, NobodyComes) {
  const auto start = Clock::now();
  EXPECT_EQ(meet({{0, 3, kHere, free_port()}}, milliseconds(200))[0],
            "timed out waiting for 2 other ranks");
  EXPECT_GE(seconds_since(start), 0.2);
  EXPECT_LT(seconds_since(start), 1.5);
  EXPECT_EQ(meet({{1, 3, kHere, free_port()}}, milliseconds(200))[0],
            "timed out waiting for rank 0 (Connection refused)");
  EXPECT_LT(seconds_since(start), 3);
}

// Of three ranks the last comes late: until then others may try to be one.
void expect_refused(const GroupAddress& address, const std::string& reason) {
  std::jthread first([port = address.port] {
    auto two = places(3, port);
    two.pop_back();
    EXPECT_EQ(meet(two, seconds(10)), std::vector<std::string>(2));
  });
  std::jthread third([port = address.port] {
    sleep(milliseconds(400));
    EXPECT_EQ(meet({{2, 3, kHere, port}}, seconds(10))[0], "");
  });
  sleep(milliseconds(200));
  EXPECT_EQ(meet({address}, seconds(10))[0], reason);
}

TEST(Rendezvous, WhoWasToldOfAnotherNumberOfProcessesIsRefused) {
  expect_refused({2, 4, kHere, free_port()}, "it has a WORLD_SIZE of 4, rank 0 one of 3");
}

TEST(Rendezvous, ARankThatIsThereTwiceIsRefused) {
  expect_refused({1, 3, kHere, free_port()}, "another process already has rank 1");
}

TEST(Rendezvous, APortThatAnotherProgramHasIsTold) {
  Stranger stranger;
  const int port = stranger.listen();
  EXPECT_EQ(meet({{0, 2, kHere, port}}, seconds(5))[0],
            fmt::format("another program uses port {} of this machine", port));
  expect_error(ErrorKind::kSystem,
               {fmt::format("rank 0 of 2 cannot join the process group at 127.0.0.1:{}", port),
                "another program uses"},
               [&] {
                 ProcessGroup({0, 2, kHere, port}, {});
               });
}

// A message as ranks send it.
std::string message(MessageKind kind, const std::string& text, uint32_t length) {
  std::string out = "egc1";
  out += static_cast<char>(kind);
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  return out + text;
}

std::string hello(const std::string& text) {
  return message(MessageKind::kHello, text, static_cast<uint32_t>(text.size()));
}

// Beside a launcher that listens itself: ports that are taken, by whoever, are passed over.
TEST(Rendezvous, APortOfAnotherProgramIsPassedOverBesideALauncher) {
  Stranger first;
  const int port = first.listen() - 1;
  const std::vector<int> ports = GroupAddress{0, 1, kHere, port, true}.ports();
  ASSERT_EQ(ports.size(), 8U);
  std::jthread answers([&] { first.say_to_who_comes("HTTP/1.1 400 Bad Request\r\n\r\n"); });
  // Another group's rank 0 has the next port, and waits.
  std::jthread other([&] {
    EXPECT_EQ(meet({{0, 2, kHere, ports[1]}}, seconds(3))[0], "timed out waiting for 1 other rank");
  });
  sleep(milliseconds(100));
  std::vector<GroupAddress> group = places(3, port);
  for (GroupAddress& address : group) address.launcher_has_port = true;
  const auto start = Clock::now();
  EXPECT_EQ(meet(group, seconds(20)), std::vector<std::string>(3));
  EXPECT_LT(seconds_since(start), 9);
}

TEST(Rendezvous, AnotherProgramInThePlaceOfRankZeroIsTold) {
  for (const std::string& text :
       {std::string("HTTP/1.1 400 Bad Request\r\n"), message(MessageKind::kBeat, "", 0)}) {
    Stranger stranger;
    const int port = stranger.listen();
    std::jthread answer([&] { stranger.say_to_who_comes(text); });
    EXPECT_EQ(meet({{1, 2, kHere, port}}, seconds(5))[0], "another program answers there");
  }
  Stranger silent;
  const int port = silent.listen();
  EXPECT_EQ(meet({{1, 2, kHere, port}}, milliseconds(200))[0], "rank 0 did not answer in time");
  Stranger ends;
  const int other = ends.listen();
  std::jthread answer([&] {
    ends.say_to_who_comes("");
    ends.end();
  });
  EXPECT_EQ(meet({{1, 2, kHere, other}}, seconds(5))[0], "the connection was closed");
}

TEST(Rendezvous, StrangersDoNotDisturb) {
  const int port = free_port();
  const auto own = [&](const char* rank_and_size) {
    return fmt::format("{} {}", rank_and_size, port);
  };
  const std::string texts[] = {"GET / HTTP/1.1\r\n\r\n",
                               "eg",
                               "egc1",
                               "",
                               std::string(1'000'000, '\xff'),
                               message(MessageKind::kHello, own("1 3"), 1 << 30),
                               message(MessageKind::kHello, "1", 3),
                               hello("what"),
                               hello(own("-1 3")),
                               hello(own("99999999999 3")),
                               hello(own("0 3")),
                               hello(own("3 3")),
                               hello(fmt::format("1 3 {}", port - 1)),  // another group's
                               hello("1 3"),
                               message(MessageKind::kBeat, "", 0),
                               message(MessageKind::kBlocks, "abc", 3)};
  std::jthread rank0([&] {
    EXPECT_EQ(meet({{0, 3, kHere, port}}, seconds(10),
                   [](Rendezvous& rendezvous) {
                     EXPECT_EQ(rendezvous.swap({"", "", ""}, after(seconds(5))).size(), 3U);
                   })[0],
              "");
  });
  std::vector<Stranger> staying;
  for (const bool stays : {false, true})
    for (const std::string& text : texts) {
      Stranger stranger;
      stranger.connect(port);
      if (text.size() < 1000) stranger.say(text);
      if (stays) staying.push_back(std::move(stranger));
    }
  const auto start = Clock::now();
  std::vector<std::jthread> others;
  for (const int rank : {1, 2})
    others.emplace_back([&, rank] {
      EXPECT_EQ(meet({{rank, 3, kHere, port}}, seconds(5),
                     [](Rendezvous& rendezvous) {
                       EXPECT_EQ(rendezvous.swap({"", "", ""}, after(seconds(5))).size(), 3U);
                     })[0],
                "");
    });
  others.clear();
  rank0.join();
  EXPECT_LT(seconds_since(start), 1);
}

// Who comes and ends is missed in the swap, who comes and says no more too.
TEST(Rendezvous, WhoIsGoneAgainIsMissed) {
  for (const bool stays : {false, true}) {
    const int port = free_port();
    Stranger rank1;
    std::jthread joins([&] {
      rank1.connect(port);
      rank1.say(hello(fmt::format("1 2 {}", port)));
      if (!stays) rank1.end();
    });
    EXPECT_EQ(meet({{0, 2, kHere, port}}, seconds(5),
                   [&](Rendezvous& rendezvous) {
                     sleep(milliseconds(50));
                     rendezvous.swap({"", ""}, after(milliseconds(200)));
                   })[0],
              stays ? "rank 1 did not answer in time" : "the connection was closed");
  }
}

TEST(Connection, MessagesComeWholeAndInOrder) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Connection a(ends[0]), b(ends[1]);
  const std::string large(5'000'000, 'x');  // more than the socket takes at once
  a.post(MessageKind::kHello, "1 2");
  a.post(MessageKind::kBlocks, large);
  a.post(MessageKind::kBeat);  // who does not read needs none
  a.post(MessageKind::kBye, std::string("\0\n", 2));
  std::jthread sends([&] { a.flush(after(seconds(5))); });
  const auto expect = [&](MessageKind kind, const std::string& text) {
    const auto message = b.receive(after(seconds(5)));
    ASSERT_TRUE(message);
    EXPECT_EQ(message->kind, kind);
    EXPECT_TRUE(message->text == text);
  };
  expect(MessageKind::kHello, "1 2");
  expect(MessageKind::kBlocks, large);
  expect(MessageKind::kBye, std::string("\0\n", 2));
  EXPECT_FALSE(b.receive(after(milliseconds(20))));
  sends.join();
  a.post(MessageKind::kLeave);
  a.close();
  EXPECT_FALSE(b.pump());  // what it said before can be taken
  EXPECT_EQ(b.take()->kind, MessageKind::kLeave);
  expect_error(ErrorKind::kSystem, {"the connection was closed"},
               [&] { b.receive(after(seconds(5))); });
  b.post(MessageKind::kBeat);  // to nobody: no signal
  b.flush(after(seconds(1)));
}

TEST(SignalsBlocked, AWriteToNobodyIsAnErrorAndNoSignal) {
  const auto write_to_nobody = [] {
    int ends[2];
    if (pipe(ends) != 0) _exit(2);
    close(ends[0]);
    {
      const SignalsBlocked blocked;
      if (write(ends[1], "x", 1) != -1 || errno != EPIPE) _exit(3);
    }
    _exit(0);
  };
  EXPECT_EXIT(write_to_nobody(), ::testing::ExitedWithCode(0), "");
}

// The variables of a launcher, and none of its others.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name : kNames) {
      const char* before = std::getenv(name);
      if (before != nullptr) before_[name] = before;
      unsetenv(name);
    }
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const char* name : kNames) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  static constexpr const char* kNames[] = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
                                           "TORCHELASTIC_USE_AGENT_STORE"};
  std::map<std::string, std::string> before_;
};

const std::map<std::string, std::string> kGood = {
    {"RANK", "2"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "some.host"}, {"MASTER_PORT", "29500"}};

TEST(AddressFromEnvironment, IsWhatALauncherSets) {
  {
    const Environment none({});
    EXPECT_FALSE(address_from_environment());
  }
  const auto ports = [](const std::string& given, const std::string& agent) {
    auto values = kGood;
    values["MASTER_PORT"] = given;
    values["TORCHELASTIC_USE_AGENT_STORE"] = agent;
    const Environment set(values);
    return address_from_environment().value().ports();
  };
  const Environment set(kGood);
  const GroupAddress address = address_from_environment().value();
  EXPECT_EQ(address.rank, 2);
  EXPECT_EQ(address.size, 4);
  EXPECT_EQ(address.address, "some.host");
  EXPECT_EQ(address.port, 29500);
  // Where the launcher listens itself the ranks meet beside it.
  using Ports = std::vector<int>;
  EXPECT_EQ(ports("29500", "True"),
            (Ports{29501, 29502, 29503, 29504, 29505, 29506, 29507, 29508}));
  EXPECT_EQ(ports("65535", "True"),
            (Ports{65534, 65533, 65532, 65531, 65530, 65529, 65528, 65527}));
  EXPECT_EQ(ports("29500", "False"), (Ports{29500}));
}

TEST(AddressFromEnvironment, WhatMakesNoSenseIsRefused) {
  for (const auto& [name, value] : kGood) {
    auto values = kGood;
    values.erase(name);
    const Environment set(values);
    expect_error(ErrorKind::kUsage, {name + " is not set"}, [] { address_from_environment(); });
  }
  const auto refused = [](const char* name, const std::string& value, const char* range) {
    auto values = kGood;
    values[name] = value;
    const Environment set(values);
    expect_error(ErrorKind::kUsage,
                 {fmt::format("{} must be an integer from {}, got \"{}\"", name, range, value)},
                 [] { address_from_environment(); });
  };
  for (const char* bad : {"", "-1", "4", "1x", " 1", "1.0", "0x1", "99999999999999999999"})
    refused("RANK", bad, "0 to 3");
  for (const char* bad : {"", "0", "-4", "4097", "four"}) refused("WORLD_SIZE", bad, "1 to 4096");
  for (const char* bad : {"", "0", "65536", "-1", "http"})
    refused("MASTER_PORT", bad, "1 to 65535");
}

// Of buckets of 2^18 values: some fill one, some share one, one is larger, one has nothing.
const std::vector<int64_t> kSizes = {5, 1 << 17, 1 << 17, 100,    (1 << 18) + 7,
                                     0, 1 << 18, 3,       200'000};

float gradient(int rank, size_t parameter, int64_t k, int step) {
  return static_cast<float>(rank * 1000 + static_cast<int>(parameter) * 10 + k % 7 + step);
}

// Ranks may complete them in any order, and without some.
TEST_P(Sizes, GradientsAreAddedUp) {
  run_group(GetParam(), [](ProcessGroup& group) {
    GradientSum sum(kSizes, group);
    for (int step = 0; step < 4; ++step) {
      const auto comes = [&](int rank, size_t k) {
        if (step == 1) return k != 4 && k != 8;     // missing everywhere
        if (step == 2) return rank != 0 || k != 2;  // on one rank
        return true;
      };
      std::vector<size_t> order(kSizes.size());
      std::iota(order.rbegin(), order.rend(), 0);
      if (step >= 2)  // another on every rank
        std::rotate(order.begin(), order.begin() + (step * 3 + group.rank()) % 9, order.end());
      sum.begin();
      for (const size_t k : order) {
        group.gather(std::string());
        if (!comes(group.rank(), k)) continue;
        std::vector<float> mine(static_cast<size_t>(kSizes[k]));
        for (int64_t i = 0; i < kSizes[k]; ++i)
          mine[static_cast<size_t>(i)] = gradient(group.rank(), k, i, step);
        sum.ready(k, mine);
      }
      std::vector<int> used(kSizes.size());
      sum.finish([&](size_t k, std::span<const float> of_all) {
        ++used[k];
        ASSERT_EQ(std::ssize(of_all), kSizes[k]);
        for (int64_t i = 0; i < kSizes[k]; ++i) {
          float want = 0;
          for (int r = 0; r < group.size(); ++r)
            if (comes(r, k)) want += gradient(r, k, i, step);
          ASSERT_EQ(of_all[static_cast<size_t>(i)], want) << k << ", " << i << " in " << step;
        }
      });
      EXPECT_EQ(used, std::vector<int>(kSizes.size(), 1));
    }
  });
}

}  // namespace
}  // namespace egc::distributed
