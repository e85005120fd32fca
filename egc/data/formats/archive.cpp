#include "egc/data/formats/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

namespace egc::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadBlock = 256 << 10;
constexpr int64_t kAlwaysFine = 32 << 20;  // unpacked bytes, whatever the ratio

// A name for a message.
std::string shown(const std::string& name) { return name.substr(0, 200); }

// Goes over the regular files of an archive and counts what they unpack to.
class ArchiveReader {
 public:
  ArchiveReader(std::string where, int64_t packed, const ArchiveLimits& limits, ErrorKind kind)
      : where_(std::move(where)),
        limits_(limits),
        kind_(kind),
        max_bytes_(std::min(limits.bytes, kAlwaysFine + packed * limits.bytes_per_packed)),
        archive_(archive_read_new(), archive_read_free) {
    archive_read_support_format_zip(archive_.get());
    archive_read_support_format_tar(archive_.get());
    archive_read_support_filter_gzip(archive_.get());
    archive_read_support_filter_bzip2(archive_.get());
    archive_read_support_filter_xz(archive_.get());
  }

  void open(const fs::path& path) {
    check_code(archive_read_open_filename(archive_.get(), path.c_str(), kReadBlock));
  }
  void open(std::string_view bytes) {
    check_code(archive_read_open_memory(archive_.get(), bytes.data(), bytes.size()));
  }

  // f(name) is called for every regular file; it may call read().
  template <class F>
  void for_each_file(F&& f) {
    for (;;) {
      archive_entry* entry = nullptr;
      const int code = archive_read_next_header(archive_.get(), &entry);
      if (code == ARCHIVE_EOF) return;
      check_code(code);
      if (++files_ > limits_.files) bad("has more than {} files", limits_.files);
      const char* name = archive_entry_pathname(entry);
      if (name == nullptr) bad("has an entry without a name");
      const auto type = archive_entry_filetype(entry);
      if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr ||
          (type != AE_IFREG && type != AE_IFDIR))
        bad("\"{}\" is neither a file nor a directory; links and devices are refused", shown(name));
      if (archive_entry_is_encrypted(entry) != 0) bad("\"{}\" is encrypted", shown(name));
      if (!has_usual_compression())
        bad("\"{}\" uses an unsupported compression method ({}); only deflate is supported",
            shown(name), archive_format_name(archive_.get()));
      if (type == AE_IFREG) f(std::string(name));
    }
  }

  // Content of the current file, block by block.
  template <class F>
  void read(F&& take) {
    std::string block(kReadBlock, 0);
    for (;;) {
      const la_ssize_t got = archive_read_data(archive_.get(), block.data(), block.size());
      // Also a warning: in the middle of the data it means a wrong checksum or size.
      if (got < 0) fail_read();
      if (got == 0) return;
      bytes_ += got;
      if (bytes_ > max_bytes_)
        bad("unpacks to more than {} bytes, too many for its size", max_bytes_);
      take(std::string_view(block.data(), static_cast<size_t>(got)));
    }
  }

  // Of zip, which knows methods whose headers can ask for gigabytes.
  bool has_usual_compression() const {
    if ((archive_format(archive_.get()) & ARCHIVE_FORMAT_BASE_MASK) != ARCHIVE_FORMAT_ZIP)
      return true;
    const std::string_view name = archive_format_name(archive_.get());
    return name.find("(deflation)") != std::string_view::npos ||
           name.find("(uncompressed)") != std::string_view::npos;
  }

  template <class... Args>
  [[noreturn]] void bad(fmt::format_string<Args...> format, Args&&... args) const {
    fail(kind_, "{}: the archive {}", where_, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void check_code(int code) const {
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) fail_read();
  }
  [[noreturn]] void fail_read() const {
    const char* why = archive_error_string(archive_.get());
    bad("cannot be read: {}", why == nullptr ? "unknown format" : why);
  }

  std::string where_;
  ArchiveLimits limits_;
  ErrorKind kind_;
  int64_t max_bytes_;
  int64_t bytes_ = 0;
  int64_t files_ = 0;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

// The path below the target, or empty where it would lead elsewhere.
fs::path safe_path(const std::string& name) {
  if (name.find('\0') != std::string::npos || name.find('\\') != std::string::npos) return {};
  const fs::path path(name);
  if (path.is_absolute()) return {};
  fs::path out;
  for (const fs::path& part : path) {
    if (part == "..") return {};
    if (part != "." && !part.empty()) out /= part;
  }
  return out;
}

int64_t size_of_file(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) fail(ErrorKind::kData, "{}: cannot be opened: {}", path.string(), error.message());
  return static_cast<int64_t>(size);
}

void collect(ArchiveReader& reader, const EntryFunction& f) {
  reader.for_each_file([&](const std::string& name) {
    std::string content;
    reader.read([&](std::string_view block) { content += block; });
    f(name, std::move(content));
  });
}

}  // namespace

void unpack_archive(const fs::path& archive, const fs::path& to, const ArchiveLimits& limits) {
  ArchiveReader reader(archive.string(), size_of_file(archive), limits, ErrorKind::kData);
  reader.open(archive);
  reader.for_each_file([&](const std::string& name) {
    const fs::path below = safe_path(name);
    if (below.empty())
      reader.bad("contains the file \"{}\", which would be extracted outside the target directory",
                 shown(name));
    const fs::path path = to / below;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (!error && fs::exists(path, error)) reader.bad("contains \"{}\" twice", shown(name));
    // The archive's fault, not the disk's.
    if (error == std::errc::not_a_directory || error == std::errc::file_exists)
      reader.bad("uses a file as the directory of \"{}\"", shown(name));
    if (error == std::errc::filename_too_long)
      reader.bad("has \"{}\", a name too long for this system", shown(name));
    if (error)
      fail(ErrorKind::kSystem, "{}: cannot be created: {}", path.string(), error.message());
    std::ofstream file(path, std::ios::binary);
    if (!file)
      fail(ErrorKind::kSystem, "{}: cannot be created: {}", path.string(), std::strerror(errno));
    reader.read([&](std::string_view block) {
      file.write(block.data(), static_cast<std::streamsize>(block.size()));
    });
    file.close();
    if (!file)
      fail(ErrorKind::kSystem, "{}: cannot be written: {}", path.string(), std::strerror(errno));
  });
}

void read_archive(const fs::path& archive, const EntryFunction& f, const ArchiveLimits& limits,
                  ErrorKind kind) {
  ArchiveReader reader(archive.string(), size_of_file(archive), limits, kind);
  reader.open(archive);
  collect(reader, f);
}

void read_archive(std::string_view bytes, const std::string& where, const EntryFunction& f,
                  const ArchiveLimits& limits, ErrorKind kind) {
  ArchiveReader reader(where, static_cast<int64_t>(bytes.size()), limits, kind);
  reader.open(bytes);
  collect(reader, f);
}

}  // namespace egc::data
