// Without zlib: plain files are read, compressed ones refused.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "egc/core/error.h"
#include "egc/data/formats/gz_file.h"
#include "egc/data/formats/text_blocks.h"

namespace egc::data {
namespace {

std::FILE* handle(void* file) { return static_cast<std::FILE*>(file); }

bool is_compressed(std::FILE* file) {
  const int first = std::fgetc(file);
  if (first == EOF) return false;
  // One byte can always be put back. No text begins with this one.
  std::ungetc(first, file);
  return first == 0x1F;
}

}  // namespace

GzReader::GzReader(const std::filesystem::path& path) : path_(path.string()) {
  if (path_ == kStdin) {
    path_ = "stdin";
    file_ = fdopen(dup(STDIN_FILENO), "rb");
  } else {
    struct stat info {};
    if (stat(path_.c_str(), &info) != 0)
      fail(ErrorKind::kData, "{}: cannot be opened: {}", path_, std::strerror(errno));
    check_data(S_ISREG(info.st_mode), "{}: expected a regular file", path_);
    file_ = std::fopen(path_.c_str(), "rb");
  }
  if (file_ == nullptr)
    fail(ErrorKind::kData, "{}: cannot be opened: {}", path_, std::strerror(errno));
  if (!is_compressed(handle(file_))) return;
  std::fclose(handle(file_));
  fail(ErrorKind::kData,
       "{}: the file is compressed, and this egc was built without zlib; decompress it (gzip -d)",
       path_);
}

GzReader::~GzReader() { std::fclose(handle(file_)); }

size_t GzReader::read(char* to, size_t size) {
  const size_t got = std::fread(to, 1, size, handle(file_));
  if (got < size && std::ferror(handle(file_)) != 0)
    fail(ErrorKind::kData, "{}: cannot be read: {}", path_, std::strerror(errno));
  return got;
}

GzSink::GzSink(const std::filesystem::path& path) : path_(path.string()) {
  fail(ErrorKind::kSystem, "{}: cannot be written: this egc was built without zlib", path_);
}
GzSink::~GzSink() = default;
void GzSink::write(std::string_view) {}
void GzSink::close() {}

}  // namespace egc::data
