// What the fuzz targets share: input bytes to choose by, files that exist in memory only, and the
// contract that every reader of foreign bytes has.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "egc/core/error.h"

namespace egc::fuzz {

// libFuzzer keeps the input of whatever aborts.
template <class... Args>
[[noreturn]] void finding(fmt::format_string<Args...> format, Args&&... args) {
  const std::string message = fmt::format(format, std::forward<Args>(args)...);
  std::fprintf(stderr, "FINDING: %s\n", message.c_str());
  std::abort();
}

template <class... Args>
void expect(bool ok, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) finding(format, std::forward<Args>(args)...);
}

// RDKit and libarchive are not instrumented: what they answered counts as coverage instead.
void count_as_coverage(std::string_view what);

inline void check_error(const Error& e, std::initializer_list<ErrorKind> allowed) {
  const std::string_view message = e.what();
  bool fits = false;
  for (const ErrorKind kind : allowed) fits |= e.kind() == kind;
  expect(fits, "an error of kind {}: {}", static_cast<int>(e.kind()), message);
  expect(!message.empty(), "an error without a message");
  // Up to what depends on the input.
  count_as_coverage(message.substr(0, message.find_first_of("0123456789'\"")));
  expect(message.find_first_of("\n\r") == std::string_view::npos, "more than a line: {}", message);
}

// Calls f, which may throw egc::Error of an allowed kind with a message of one line. Nothing else
// is caught, so that the stack of any other exception is that of its throw. True: nothing thrown.
template <class F>
bool throws_only(std::initializer_list<ErrorKind> allowed, F&& f) {
  try {
    f();
    return true;
  } catch (const Error& e) {
    check_error(e, allowed);
    return false;
  }
}

// The input from its front. Choices are digits, so that seeds can be read and written by hand.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  // A number below `count` from one byte; '0' is 0.
  size_t choose(size_t count) {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(rest_[0] - '0');
    rest_.remove_prefix(1);
    return byte % count;
  }
  std::string_view rest() const { return rest_; }
  std::string text() const { return std::string(rest_); }

 private:
  std::string_view rest_;
};

// A file with a path, without a file system: rewritten for every input, opened by the reader.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("egc_fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0) finding("memfd_create failed");
    path_ = "/proc/self/fd/" + std::to_string(fd_);
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::filesystem::path& write(std::string_view bytes) const {
    if (ftruncate(fd_, 0) != 0 ||
        pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      finding("the memory file cannot be written");
    return path_;
  }

 private:
  int fd_;
  std::filesystem::path path_;
};

// A directory of this process, removed at exit. scripts/fuzz sets TMPDIR to a place in memory, and
// removes that after a crash.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "egc_fuzz_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) finding("no scratch directory");
    path_ = name;
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Reads every byte, so that the address sanitizer sees a view of what is not there.
template <class Values>
void touch(const Values& values) {
  uint8_t sum = 0;
  for (const auto& value : values) sum ^= *reinterpret_cast<const uint8_t*>(&value);
  asm volatile("" : : "r"(sum));  // so that the reads stay
}

}  // namespace egc::fuzz
