#include "egc/data/build/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "egc/core/error.h"

extern char** environ;

namespace egc::data {

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail(ErrorKind::kSystem, "{}: cannot create a pipe: {}", arguments[0], std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const int error = posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  output_ = ends[0];
  if (error != 0) {
    close(output_);
    fail(ErrorKind::kSystem, "{}: cannot be started: {}", arguments[0], std::strerror(error));
  }
}

ChildProcess::~ChildProcess() {
  close(output_);
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    wait();
  }
}

void ChildProcess::for_each_line(const std::function<void(std::string_view)>& f) {
  std::string pending;
  char block[64 << 10];
  for (;;) {
    const ssize_t got = read(output_, block, sizeof(block));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    pending.append(block, static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end = pending.find('\n'); end != std::string::npos;
         end = pending.find('\n', begin)) {
      f(std::string_view(pending).substr(begin, end - begin));
      begin = end + 1;
    }
    pending.erase(0, begin);
  }
  if (!pending.empty()) f(pending);
}

int ChildProcess::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void for_each_output_line(const std::vector<std::string>& arguments,
                          const std::function<void(std::string_view)>& f) {
  ChildProcess child(arguments);
  child.for_each_line(f);
  const int code = child.wait();
  if (code != 0)
    fail(ErrorKind::kSystem, "{}: failed with {}", arguments[0],
         code <= 128 ? fmt::format("exit code {}", code) : fmt::format("signal {}", code - 128));
}

}  // namespace egc::data
