#include "cli/shared_files.h"

namespace egc::cli {

namespace fs = std::filesystem;

std::optional<fs::path> shared_file(const fs::path& name) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* place : {"../share/egc", "../../.."}) {
    const fs::path file = program / place / name;
    if (fs::exists(file, ignored)) return file.lexically_normal();
  }
  return std::nullopt;
}

}  // namespace egc::cli
