#include "egc/core/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "egc/core/error.h"

namespace egc {
namespace {

[[noreturn]] void fail_with_errno(const std::string& path, const char* what) {
  fail(ErrorKind::kSystem, "{}: cannot be {}: {}", path, what, std::strerror(errno));
}

// A rename is on the disk when its directory is. Some file systems cannot sync a directory.
void sync_directory(const std::filesystem::path& path) {
  const std::string dir = path.has_parent_path() ? path.parent_path().string() : ".";
  const int fd = open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail_with_errno(dir, "opened");
  const bool fine = fsync(fd) == 0 || errno == EINVAL;
  const int error = errno;
  close(fd);
  errno = error;
  if (!fine) fail_with_errno(dir, "synced");
}

void write_all(int fd, const char* at, size_t bytes, const std::string& path) {
  while (bytes > 0) {
    const ssize_t n = ::write(fd, at, std::min<size_t>(bytes, 1 << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with_errno(path, "written");
    at += n;
    bytes -= static_cast<size_t>(n);
  }
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  // What a link points at is replaced, not the link; a device or a directory is not replaced at
  // all.
  std::error_code ignored;
  if (std::filesystem::is_symlink(path_, ignored))
    path_ = std::filesystem::weakly_canonical(path_, ignored);
  const auto status = std::filesystem::status(path_, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail(ErrorKind::kSystem, "{}: cannot be written: it exists and is not a regular file",
         path_.string());
  // Two threads, or two processes, may write the same file.
  static std::atomic<int> count{0};
  temporary_ = fmt::format("{}.tmp.{}.{}", path_.string(), getpid(), count++);
  fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) fail_with_errno(path_.string(), "created");
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t bytes) {
  write_all(fd_, static_cast<const char*>(data), bytes, path_.string());
}

void AtomicFile::commit(Sync sync) {
  if (sync == Sync::kYes && fsync(fd_) != 0) fail_with_errno(path_.string(), "synced");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail_with_errno(path_.string(), "renamed into place");
  close(fd_);
  fd_ = -1;
  if (sync == Sync::kYes) sync_directory(path_);
}

void write_whole_file(const std::filesystem::path& path, std::string_view text, Sync sync) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit(sync);
}

void append_to_file(const std::filesystem::path& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) fail_with_errno(path.string(), "opened");
  try {
    write_all(fd, text.data(), text.size(), path.string());
  } catch (...) {
    close(fd);
    throw;
  }
  close(fd);
}

}  // namespace egc
