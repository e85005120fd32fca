#include "cli/load_library.h"

#include <dlfcn.h>

#include "egc/core/error.h"

namespace egc::cli {

void* load_entry(const char* library, const char* entry) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) fail(ErrorKind::kSystem, "{} cannot be loaded: {}", library, dlerror());
  void* address = dlsym(handle, entry);
  if (address == nullptr) fail(ErrorKind::kSystem, "{}: expected an entry {}", library, entry);
  return address;
}

}  // namespace egc::cli
