#include "egc/data/child_process.h"

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
namespace {

// The child is waited for, whatever happens to the reader.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      fail(ErrorKind::kSystem, "{}: no pipe: {}", arguments[0], std::strerror(errno));
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
      pid_ = 0;
      close(output_);
      fail(ErrorKind::kSystem, "{}: cannot be started: {}", arguments[0], std::strerror(error));
    }
  }
  ~Child() {
    close(output_);
    if (pid_ > 0) {
      kill(pid_, SIGTERM);
      wait();
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int output() const { return output_; }
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

}  // namespace

void for_each_output_line(const std::vector<std::string>& arguments,
                          const std::function<void(std::string_view)>& f) {
  Child child(arguments);
  std::string pending;
  char block[64 << 10];
  for (;;) {
    const ssize_t got = read(child.output(), block, sizeof(block));
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
  const int status = child.wait();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail(ErrorKind::kSystem, "{}: ended with {}", arguments[0],
         WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                           : fmt::format("signal {}", WTERMSIG(status)));
}

}  // namespace egc::data
