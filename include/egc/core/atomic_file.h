// Files that are replaced atomically: written under a temporary name in the same directory, synced,
// then renamed, so a reader sees the old file or the complete new one. Errors are
// ErrorKind::kSystem.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace egc {

// Whether to wait until the data is on disk. kNo is for files that can be recomputed, such as a
// cache with a checksum.
enum class Sync { kYes, kNo };

// Writes one file atomically. Without commit(), the destructor removes the temporary file.
class AtomicFile {
 public:
  // Opens a temporary file beside `path`.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();  // discards what was not committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);  // appends bytes
  void commit(Sync sync = Sync::kYes);         // syncs and renames the file to its final name

 private:
  std::filesystem::path path_;
  std::string temporary_;
  int fd_ = -1;
};

// Replaces the file at `path` with `text`, atomically.
void write_whole_file(const std::filesystem::path& path, std::string_view text,
                      Sync sync = Sync::kYes);

// Appends to a file, which is created if it does not exist. Does not sync: a crash of the machine
// may lose the last writes. For logs that can be rebuilt.
void append_to_file(const std::filesystem::path& path, std::string_view text);

}  // namespace egc
