#include "egc/core/claim_file.h"

#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/text_file.h"

namespace egc {

namespace fs = std::filesystem;

void make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail(ErrorKind::kSystem, "{}: cannot be created: {}", path.string(), error.message());
}

void claim_file(const fs::path& path, std::string_view text, const std::string& refusal) {
  make_directories(path.parent_path());
  if (!fs::exists(path)) return write_whole_file(path, text);
  check(read_text_file(path.string(), ErrorKind::kSystem) == text, "{}: {}",
        path.parent_path().string(), refusal);
}

}  // namespace egc
