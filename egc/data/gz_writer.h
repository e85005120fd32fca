// Text to a gzip file, without time or name in its header: the same text gives the same bytes.
#pragma once

#include <fmt/format.h>
#include <zlib.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace egc::data {

class GzWriter {
 public:
  // Throws kSystem, here and below.
  explicit GzWriter(const std::filesystem::path& path);
  ~GzWriter();
  GzWriter(const GzWriter&) = delete;
  GzWriter& operator=(const GzWriter&) = delete;

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() > kFlushAt) flush();
  }
  // Must be called: errors of the disk show here.
  void close();

 private:
  static constexpr size_t kFlushAt = 64 << 10;
  void flush();

  std::string path_;
  gzFile file_;
  std::string buffer_;
};

}  // namespace egc::data
