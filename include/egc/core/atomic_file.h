// A file that appears whole or not at all: written under a temporary name beside its own, synced,
// renamed into place, its directory synced. Errors are ErrorKind::kSystem.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace egc {

// What can be made again (a cache with a checksum) need not wait for the disk.
enum class Sync { kYes, kNo };

class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();  // without commit() nothing stays
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void commit(Sync sync = Sync::kYes);

 private:
  std::filesystem::path path_;
  std::string temporary_;
  int fd_ = -1;
};

void write_whole_file(const std::filesystem::path& path, std::string_view text,
                      Sync sync = Sync::kYes);

// At the end of a file that may be there already; what has arrived when the machine stops is left
// to the system. For logs that can be made again.
void append_to_file(const std::filesystem::path& path, std::string_view text);

}  // namespace egc
