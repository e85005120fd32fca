#include "egc/data/formats/text_blocks.h"

#include "egc/core/error.h"
#include "egc/core/producer.h"
#include "egc/data/formats/gz_file.h"

namespace egc::data {
namespace {

constexpr size_t kBlock = 256 << 10;       // stays in the second-level cache beside the numbers
constexpr size_t kLongestLine = 64 << 20;  // no table of ours is wider
constexpr size_t kAhead = 4;

// Cuts what it reads at line ends; what follows the last one waits for the next block.
class LineCutter {
 public:
  explicit LineCutter(const std::filesystem::path& path) : file_(path) {}

  std::optional<std::string> next() {
    std::string block = std::move(tail_);
    tail_.clear();
    for (;;) {
      const size_t before = block.size();
      check_data(before <= kLongestLine, "{}: a line is longer than {} MB", file_.path(),
                 kLongestLine >> 20);
      block.resize(before + kBlock);
      const size_t got = file_.read(block.data() + before, kBlock);
      block.resize(before + got);
      if (got == 0) {
        if (block.empty()) return std::nullopt;
        return block;
      }
      // Only in what is new: a long line would be gone over again with every block.
      const size_t found = std::string_view(block).substr(before).rfind('\n');
      if (found == std::string_view::npos) continue;
      const size_t end = before + found;
      tail_.assign(block, end + 1, std::string::npos);
      block.resize(end + 1);
      return block;
    }
  }

 private:
  GzReader file_;
  std::string tail_;
};

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

struct TextBlocks::Impl {
  explicit Impl(const std::filesystem::path& path)
      : cutter(path), producer([this] { return cutter.next(); }, kAhead) {}
  LineCutter cutter;
  Producer<std::string> producer;
  bool first = true;
};

TextBlocks::TextBlocks(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
TextBlocks::~TextBlocks() = default;

std::string_view TextBlocks::next() {
  block_ = impl_->producer.next();
  if (!block_) return {};
  std::string_view out = *block_;
  if (std::exchange(impl_->first, false) && out.starts_with(kByteOrderMark)) {
    out.remove_prefix(kByteOrderMark.size());
    if (out.empty()) return next();  // nothing but the mark: not yet the end
  }
  return out;
}

bool TextLinesReader::next(std::string_view& line) {
  if (rest_.empty()) rest_ = blocks_.next();
  if (rest_.empty()) return false;
  const size_t end = rest_.find('\n');
  line = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++line_number_;
  return true;
}

std::string read_text(const std::filesystem::path& path, size_t limit) {
  GzReader file(path);
  std::string out;
  for (;;) {
    const size_t before = out.size();
    out.resize(before + kBlock);
    const size_t got = file.read(out.data() + before, kBlock);
    out.resize(before + got);
    check_data(out.size() <= limit, "{}: is longer than {} bytes", path.string(), limit);
    if (got == 0) return out;
  }
}

}  // namespace egc::data
