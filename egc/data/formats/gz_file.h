// Files that are compressed with gzip, or plain. By zlib (gz_file.cpp); without it plain ones alone
// (plain_file.cpp).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace egc::data {

// Reads gzip or plain bytes, whichever it finds, from a file or kStdin. Throws kData.
class GzReader {
 public:
  explicit GzReader(const std::filesystem::path& path);
  ~GzReader();
  GzReader(const GzReader&) = delete;
  GzReader& operator=(const GzReader&) = delete;

  // Fewer than `size` only at the end.
  size_t read(char* to, size_t size);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  void* file_ = nullptr;
};

// Writes gzip without time or name in its header: the same text gives the same bytes. Throws
// kSystem.
class GzSink {
 public:
  explicit GzSink(const std::filesystem::path& path);
  ~GzSink();
  GzSink(const GzSink&) = delete;
  GzSink& operator=(const GzSink&) = delete;

  void write(std::string_view bytes);
  // Must be called: errors of the disk show here.
  void close();

 private:
  std::string path_;
  void* file_ = nullptr;
};

}  // namespace egc::data
