#include "cli/torch_module.h"

#include <dlfcn.h>

#include <cstdlib>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/kernels/target.h"

namespace egc::cli {
namespace {

// OpenBLAS before 0.3.25 takes an Intel processor that it does not know for one of 2004 (its issue
// 4267) and runs four times slower; Debian 12 has 0.3.21. It reads this when it is loaded.
void tell_openblas_the_processor() {
  const std::string best = kernels::available_targets().front();
  if (best == "AVX3") setenv("OPENBLAS_CORETYPE", "SkylakeX", /*replace=*/0);
  if (best == "AVX2") setenv("OPENBLAS_CORETYPE", "Haswell", /*replace=*/0);
}

}  // namespace

const TorchModule& torch_module() {
  static const TorchModule* const module = [] {
    constexpr const char* kLibrary =
        "libegc_cli_torch.so";  // found through this program's run path
    tell_openblas_the_processor();
    const int threads = num_threads();
    void* library = dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr)
      fail(ErrorKind::kSystem, "{} cannot be loaded: {}", kLibrary, dlerror());
    using Entry = const TorchModule* (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(library, "egc_torch_module"));
    if (entry == nullptr)
      fail(ErrorKind::kSystem, "{}: expected an entry egc_torch_module", kLibrary);
    entry()->set_num_threads(threads);  // LibTorch comes with a number of its own
    return entry();
  }();
  return *module;
}

}  // namespace egc::cli
