// A file of text, plain or gzip, in blocks of whole lines. A thread of its own reads and
// decompresses ahead of whoever parses. Memory: a few blocks, whatever the file unpacks to.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace egc::data {

// The path that stands for the standard input.
constexpr const char* kStdin = "-";

class TextBlocks {
 public:
  // Throws kData where the file cannot be opened.
  explicit TextBlocks(const std::filesystem::path& path);
  ~TextBlocks();

  // Whole lines; the last block may end without a newline. Empty at the end. Valid until the next
  // call. Throws kData where the gzip data are damaged or end too early.
  std::string_view next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::optional<std::string> block_;
};

// Goes through the lines of a file, without their ends (\n or \r\n) and without a byte order mark.
class TextLinesReader {
 public:
  explicit TextLinesReader(const std::filesystem::path& path) : blocks_(path) {}

  // False after the last line. The view is valid until the next call.
  bool next(std::string_view& line);
  int64_t line_number() const { return line_number_; }  // of the last line, from 1

 private:
  TextBlocks blocks_;
  std::string_view rest_;
  int64_t line_number_ = 0;
};

// The whole file, at most `limit` bytes (kData beyond).
std::string read_text(const std::filesystem::path& path, size_t limit);

}  // namespace egc::data
