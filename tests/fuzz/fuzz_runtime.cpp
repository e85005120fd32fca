// What changes the rules of the process under fuzzing: settings of the sanitizers, coverage that no
// compiler made, and mapped files as heap blocks.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "egc/core/mapped_file.h"
#include "tests/fuzz/fuzz_input.h"

// A large quarantine of freed blocks would count as the reader's memory and evict the caches.
extern "C" const char* __asan_default_options() {  // NOLINT: the sanitizer's name
  return "quarantine_size_mb=4:thread_local_quarantine_size_kb=64:"
         "allocator_release_to_os_interval_ms=-1:malloc_context_size=12";
}

// zlib's: buffers for files that are larger than any input cost more than reading it.
extern "C" int gzbuffer(void* /*file*/, unsigned /*size*/) { return 0; }

namespace {

constexpr size_t kCounters = 4096;
// libFuzzer reads this section as further counters.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t g_counters[kCounters];

}  // namespace

namespace egc::fuzz {

void count_as_coverage(std::string_view what) {
  g_counters[std::hash<std::string_view>()(what) % kCounters] = 1;
}

}  // namespace egc::fuzz

// Instead of the library's own: a page that is mapped reads as zeros beyond the end of its file, a
// heap block does not.
namespace egc {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail(ErrorKind::kSystem, "{}: cannot be opened", path.string());
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    fail(ErrorKind::kSystem, "{}: expected a regular file", path.string());
  }
  size_ = static_cast<size_t>(info.st_size);
  if (size_ > 0) {
    auto* data = new std::byte[size_];
    if (read(fd, data, size_) != info.st_size) fuzz::finding("a file in memory cannot be read");
    data_ = data;
  }
  close(fd);
}

MappedFile::~MappedFile() { delete[] data_; }

}  // namespace egc
