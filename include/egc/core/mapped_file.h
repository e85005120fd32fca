// Read-only memory mapping of files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace egc {

// A file mapped into memory until the object is destroyed.
class MappedFile {
 public:
  // Maps a regular file. Throws kSystem where it cannot be opened or mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }  // contents of the file

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace egc
