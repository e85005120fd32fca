// Text files, plain or gzip, in blocks of whole lines. A background thread reads and decompresses
// ahead; memory stays at a few blocks.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace egc::data {

constexpr const char* kStdin = "-";  // the path that stands for standard input

// Reads a file block by block.
class TextBlocks {
 public:
  // Opens a file. Throws kData where that fails.
  explicit TextBlocks(const std::filesystem::path& path);
  ~TextBlocks();  // stops the background thread

  // The next whole lines, valid until the next call; empty at the end. The last block may end
  // without a newline. Throws kData where gzip data are damaged or truncated.
  std::string_view next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::optional<std::string> block_;
};

// Reads a file line by line, without line ends (LF or CRLF) and byte order mark.
class TextLinesReader {
 public:
  // Opens a file. Throws kData where that fails.
  explicit TextLinesReader(const std::filesystem::path& path) : blocks_(path) {}

  // Reads the next line, valid until the next call; false at the end.
  bool next(std::string_view& line);
  int64_t line_number() const { return line_number_; }  // of the last line, from 1

 private:
  TextBlocks blocks_;
  std::string_view rest_;
  int64_t line_number_ = 0;
};

// The whole file. Throws kData if it has more than `limit` bytes.
std::string read_text(const std::filesystem::path& path, size_t limit);

}  // namespace egc::data
