#include "egc/app/shared_files.h"

#include <dlfcn.h>

#include <vector>

namespace egc::app {

namespace fs = std::filesystem;
namespace {

// The folders of the program and of the library, whichever uses this.
std::vector<fs::path> folders() {
  std::error_code ignored;
  std::vector<fs::path> out = {fs::read_symlink("/proc/self/exe", ignored).parent_path()};
  Dl_info library = {};
  if (dladdr(reinterpret_cast<const void*>(&folders), &library) != 0)
    out.push_back(fs::absolute(library.dli_fname, ignored).parent_path());
  return out;
}

}  // namespace

std::optional<fs::path> shared_file(const fs::path& name) {
  std::error_code ignored;
  for (const fs::path& folder : folders())
    // Beside the program, beside the library, and in the sources of a build.
    for (const char* candidate : {"../share/egc", EGC_SHARED_FROM_LIBRARY, "../../.."}) {
      const fs::path file = folder / candidate / name;
      if (fs::exists(file, ignored)) return file.lexically_normal();
    }
  return std::nullopt;
}

}  // namespace egc::app
