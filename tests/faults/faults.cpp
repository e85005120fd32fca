// Faults on purpose, for a program started with LD_PRELOAD=<this library>. It counts, from 1 on,
// the calls that change files in $EGC_TEST_FAULT_DIR (absolute, without links) or the directory
// itself. At call number $EGC_TEST_FAULT_AT comes $EGC_TEST_FAULT:
//   kill        SIGKILL just before the call
//   kill-after  SIGKILL just after it
//   half        a write keeps half of its bytes, then SIGKILL; other calls as "kill"
//   enospc      the disk is full: from this call on nothing can be made, written or synced
//   count       nothing; every call is a line "<function> <path>" in the file $EGC_TEST_FAULT_COUNT
// Only calls of the program are seen, not those that libc makes for itself: fopen, fclose.
#undef _FORTIFY_SOURCE  // it would define some of these functions inline
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Plan {
  std::string fault = variable("EGC_TEST_FAULT");
  std::string dir = variable("EGC_TEST_FAULT_DIR");
  std::string list = variable("EGC_TEST_FAULT_COUNT");
  long at = std::atol(variable("EGC_TEST_FAULT_AT").c_str());
};

const Plan& plan() {
  static const Plan the_plan;
  return the_plan;
}

// The functions below hide those of libc, which are the next ones to be found.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_watched(const std::string& path) {
  const std::string& dir = plan().dir;
  return !dir.empty() && path.starts_with(dir) &&
         (path.size() == dir.size() || path[dir.size()] == '/');
}

// The system knows it whatever way the descriptor came: a temporary file, a directory to sync.
std::string path_of(int fd) {
  char path[4096];
  const ssize_t n = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof(path));
  return n < 0 ? "" : std::string(path, static_cast<size_t>(n));
}

using Call = std::function<long()>;

// Those that only change names work on a full disk.
bool needs_space(const std::string& name) { return name != "rename" && name != "remove"; }

long disturb(const char* name, const std::string& path, const Call& call, const Call& half = {}) {
  if (!is_watched(path)) return call();
  static std::atomic<long> count{0};
  const long number = ++count;
  const std::string& fault = plan().fault;
  if (fault == "count") {
    const int error = errno;
    std::FILE* list = std::fopen(plan().list.c_str(), "a");
    if (list == nullptr) std::abort();
    std::fprintf(list, "%s %s\n", name, path.c_str());
    std::fclose(list);
    errno = error;
  } else if (fault == "enospc") {
    if (number < plan().at || !needs_space(name)) return call();
    errno = ENOSPC;
    return -1;
  } else if (number == plan().at) {
    if (fault == "kill-after") call();
    if (fault == "half" && half) half();
    std::raise(SIGKILL);
  }
  return call();
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  const auto call = [&] { return real<decltype(open)>("open")(path, flags, mode); };
  if ((flags & O_CREAT) == 0) return call();
  return static_cast<int>(disturb("open", path, call));
}

ssize_t write(int fd, const void* data, size_t bytes) {
  const auto put = [&](size_t n) { return real<decltype(write)>("write")(fd, data, n); };
  return disturb(
      "write", path_of(fd), [&] { return put(bytes); }, [&] { return put(bytes / 2); });
}

int fsync(int fd) {
  const auto call = [&] { return real<decltype(fsync)>("fsync")(fd); };
  return static_cast<int>(disturb("fsync", path_of(fd), call));
}

int rename(const char* from, const char* to) noexcept {
  const auto call = [&] { return real<decltype(rename)>("rename")(from, to); };
  return static_cast<int>(disturb("rename", from, call));
}

int mkdir(const char* path, mode_t mode) noexcept {
  const auto call = [&] { return real<decltype(mkdir)>("mkdir")(path, mode); };
  return static_cast<int>(disturb("mkdir", path, call));
}

// Of std::filesystem::remove.
int remove(const char* path) noexcept {
  const auto call = [&] { return real<decltype(remove)>("remove")(path); };
  return static_cast<int>(disturb("remove", path, call));
}

}  // extern "C"
