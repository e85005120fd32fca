// egc launch: several ranks of one training on this machine, as torchrun would start them.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "cli/common.h"
#include "cli/stop_signal.h"
#include "egc/core/error.h"
#include "egc/core/parallel.h"

namespace egc::cli {
namespace {

using Clock = std::chrono::steady_clock;
// What ranks have to end by themselves once one has failed; they notice within ten.
constexpr std::chrono::seconds kGrace{20};

// One that nobody listens at now.
int free_port() {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = s >= 0 && bind(s, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(s, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (s >= 0) close(s);
  if (!bound) fail(ErrorKind::kSystem, "launch: no free port on this machine");
  return ntohs(address.sin_port);
}

// One rank. Results are rank 0's to print; whatever else is said comes through a pipe.
struct Rank {
  pid_t pid = 0;
  int output = -1;
  std::string line;  // begun
  std::unique_ptr<app::PassSignalsTo> signals;
};

Rank start(const std::vector<std::string>& arguments, int rank, int64_t size, int port) {
  int ends[2];
  if (pipe(ends) != 0) fail(ErrorKind::kSystem, "launch: cannot create a pipe");
  std::vector<std::string> words = {"/proc/self/exe"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::pair<const char*, std::string> environment[] = {{"RANK", std::to_string(rank)},
                                                             {"WORLD_SIZE", std::to_string(size)},
                                                             {"MASTER_ADDR", "127.0.0.1"},
                                                             {"MASTER_PORT", std::to_string(port)}};
  const pid_t pid = fork();
  if (pid < 0) fail(ErrorKind::kSystem, "launch: cannot start rank {}", rank);
  if (pid == 0) {
    for (const auto& [name, value] : environment) setenv(name, value.c_str(), 1);
    if (rank != 0) dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  return {pid, ends[0], "", std::make_unique<app::PassSignalsTo>(pid)};
}

// Prints whole lines with their rank; false where the output has ended.
bool pass_on(Rank& rank, size_t number) {
  char block[4096];
  const ssize_t size = read(rank.output, block, sizeof block);
  if (size < 0 && errno == EINTR) return true;
  if (size > 0) rank.line.append(block, static_cast<size_t>(size));
  for (size_t end; (end = rank.line.find('\n')) != std::string::npos; rank.line.erase(0, end + 1))
    fmt::print(stderr, "{}: {}\n", number, rank.line.substr(0, end));
  if (size <= 0 && !rank.line.empty()) fmt::print(stderr, "{}: {}\n", number, rank.line);
  return size > 0;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// What a rank ends with that has lost another one. The kernel closes a process's connections before
// it tells the parent, so such a rank may be seen to end before the one it lost.
constexpr int kLostAnother = static_cast<int>(ErrorKind::kSystem);

// The exit code of the first rank that failed for a reason of its own, or of the first that failed;
// 0 where none did.
int run_ranks(std::vector<Rank>& ranks) {
  int failed = 0;
  bool hung = false;  // who is left is ended below, which is no reason of its own
  Clock::time_point failed_at;
  size_t running = ranks.size();
  std::vector<pollfd> polls;
  for (const Rank& rank : ranks) polls.push_back({rank.output, POLLIN, 0});
  while (running > 0) {
    poll(polls.data(), polls.size(), 1000);
    for (size_t k = 0; k < ranks.size(); ++k)
      if ((polls[k].revents & (POLLIN | POLLHUP)) != 0 && !pass_on(ranks[k], k)) polls[k].fd = -1;
    for (Rank& rank : ranks) {
      int status = 0;
      if (rank.pid == 0 || waitpid(rank.pid, &status, WNOHANG) != rank.pid) continue;
      rank.signals.reset();
      rank.pid = 0;
      --running;
      const int code = code_of(status);
      if (code == 0) continue;
      if (failed == 0) failed_at = Clock::now();
      if (failed == 0 || (failed == kLostAnother && !hung)) failed = code;
    }
    // The others notice by themselves and say so; who does not is ended.
    hung = failed != 0 && Clock::now() - failed_at > kGrace;
    if (hung)
      for (const Rank& rank : ranks)
        if (rank.pid != 0) kill(rank.pid, SIGKILL);
  }
  for (size_t k = 0; k < ranks.size(); ++k)
    while (polls[k].fd >= 0 && pass_on(ranks[k], k)) {
    }
  return failed;
}

}  // namespace

void add_launch(CLI::App& app, const CommonOptions& common) {
  struct Options {
    int64_t ranks = 2;
    std::vector<std::string> command;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = app.add_subcommand(
      "launch", "Train with several ranks on this machine, which share each batch");
  c->add_option("-n,--ranks", o->ranks, "Number of ranks")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  c->add_option("command", o->command, "After --: train and its arguments")->required();
  c->footer("Example:\n  egc launch -n 2 -- train zinc --model egc-m");
  c->callback([o, &common] {
    check(o->command[0] == "train", "egc launch runs only train, got \"{}\"", o->command[0]);
    watch_stop_signals();
    std::vector<std::string> arguments = o->command;
    const int64_t threads = common.threads > 0 ? common.threads : available_cores();
    if (std::find(arguments.begin(), arguments.end(), "--threads") == arguments.end()) {
      arguments.emplace_back("--threads");
      arguments.push_back(std::to_string(std::max<int64_t>(1, threads / o->ranks)));
    }
    const int port = free_port();
    std::vector<Rank> ranks;
    for (int64_t k = 0; k < o->ranks; ++k)
      ranks.push_back(start(arguments, static_cast<int>(k), o->ranks, port));
    if (const int code = run_ranks(ranks); code != 0) throw CLI::RuntimeError(code);
  });
}

}  // namespace egc::cli
