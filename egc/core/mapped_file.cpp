#include "egc/core/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "egc/core/error.h"

namespace egc {
namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Not to wait for a writer where the path is a pipe.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0)
    fail(ErrorKind::kSystem, "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  struct stat info {};
  if (fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode))
    fail(ErrorKind::kSystem, "{}: expected a regular file", path.string());
  size_ = static_cast<size_t>(info.st_size);
  if (size_ == 0) return;  // an empty mapping is an error to mmap
  void* data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED)
    fail(ErrorKind::kSystem, "{}: cannot be mapped into memory: {}", path.string(),
         std::strerror(errno));
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace egc
