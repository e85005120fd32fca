#include "egc/data/gz_writer.h"

#include <cerrno>
#include <cstring>

#include "egc/core/error.h"

namespace egc::data {

GzWriter::GzWriter(const std::filesystem::path& path)
    : path_(path.string()), file_(gzopen(path_.c_str(), "wb6")) {
  if (file_ == nullptr)
    fail(ErrorKind::kSystem, "{}: cannot be created: {}", path_, std::strerror(errno));
}

GzWriter::~GzWriter() {
  if (file_ != nullptr) gzclose(file_);
}

void GzWriter::flush() {
  if (!buffer_.empty() && gzwrite(file_, buffer_.data(), static_cast<unsigned>(buffer_.size())) !=
                              static_cast<int>(buffer_.size()))
    fail(ErrorKind::kSystem, "{}: cannot be written: {}", path_, std::strerror(errno));
  buffer_.clear();
}

void GzWriter::close() {
  flush();
  const int code = gzclose(file_);
  file_ = nullptr;
  if (code != Z_OK)
    fail(ErrorKind::kSystem, "{}: cannot be written: {}", path_, std::strerror(errno));
}

}  // namespace egc::data
