#include "cli/data/build_module.h"

#include <dlfcn.h>

#include "egc/core/error.h"

namespace egc::cli {
namespace {

// The address of `entry` in a library, which is looked for along this program's run path.
void* load_entry(const char* library, const char* entry) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr)
    fail(ErrorKind::kSystem,
         "downloads, molecules (SMILES) and images need {}, which the Python wheel leaves out; "
         "build egc from source, "
         "as docs/getting-started.md says ({})",
         library, dlerror());
  void* address = dlsym(handle, entry);
  if (address == nullptr) fail(ErrorKind::kSystem, "{}: symbol {} not found", library, entry);
  return address;
}

}  // namespace

const BuildModule& build_module() {
  using Entry = const BuildModule* (*)();
  static const BuildModule* const module =
      reinterpret_cast<Entry>(load_entry("libegc_cli_build.so", "egc_build_module"))();
  return *module;
}

}  // namespace egc::cli
