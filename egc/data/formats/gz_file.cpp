#include "egc/data/formats/gz_file.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "egc/core/error.h"
#include "egc/data/formats/text_blocks.h"

namespace egc::data {
namespace {

gzFile handle(void* file) { return static_cast<gzFile>(file); }

}  // namespace

GzReader::GzReader(const std::filesystem::path& path) : path_(path.string()) {
  if (path_ == kStdin) {
    path_ = "stdin";
    file_ = gzdopen(dup(STDIN_FILENO), "rb");
    if (file_ == nullptr) fail(ErrorKind::kData, "cannot read stdin");
    return;
  }
  struct stat info {};
  if (stat(path_.c_str(), &info) != 0)
    fail(ErrorKind::kData, "{}: cannot be opened: {}", path_, std::strerror(errno));
  check_data(S_ISREG(info.st_mode), "{}: expected a regular file", path_);
  file_ = gzopen(path_.c_str(), "rb");
  if (file_ == nullptr)
    fail(ErrorKind::kData, "{}: cannot be opened: {}", path_, std::strerror(errno));
  gzbuffer(handle(file_), 128 << 10);
}

GzReader::~GzReader() { gzclose(handle(file_)); }

size_t GzReader::read(char* to, size_t size) {
  const int n = gzread(handle(file_), to, static_cast<unsigned>(size));
  if (n == static_cast<int>(size)) return size;
  int code = Z_OK;
  const char* message = gzerror(handle(file_), &code);
  if (code == Z_BUF_ERROR)
    fail(ErrorKind::kData, "{}: the gzip data ends early; is the file truncated?", path_);
  if (n < 0 || code != Z_OK)
    fail(ErrorKind::kData, "{}: corrupt gzip data: {}", path_,
         code == Z_ERRNO ? std::strerror(errno) : message);
  return static_cast<size_t>(n);
}

GzSink::GzSink(const std::filesystem::path& path)
    : path_(path.string()), file_(gzopen(path_.c_str(), "wb6")) {
  if (file_ == nullptr)
    fail(ErrorKind::kSystem, "{}: cannot be created: {}", path_, std::strerror(errno));
}

GzSink::~GzSink() {
  if (file_ != nullptr) gzclose(handle(file_));
}

void GzSink::write(std::string_view bytes) {
  const auto size = static_cast<unsigned>(bytes.size());
  if (size > 0 && gzwrite(handle(file_), bytes.data(), size) != static_cast<int>(size))
    fail(ErrorKind::kSystem, "{}: cannot be written: {}", path_, std::strerror(errno));
}

void GzSink::close() {
  if (gzclose(handle(std::exchange(file_, nullptr))) != Z_OK)
    fail(ErrorKind::kSystem, "{}: cannot be written: {}", path_, std::strerror(errno));
}

}  // namespace egc::data
