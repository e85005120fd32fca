// Text to a gzip file.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include "egc/data/formats/gz_file.h"

namespace egc::data {

class GzWriter {
 public:
  explicit GzWriter(const std::filesystem::path& path) : file_(path) {}

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() > kFlushAt) flush();
  }
  // Must be called: errors of the disk show here.
  void close() {
    flush();
    file_.close();
  }

 private:
  static constexpr size_t kFlushAt = 64 << 10;
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }

  GzSink file_;
  std::string buffer_;
};

}  // namespace egc::data
