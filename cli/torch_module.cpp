#include "cli/torch_module.h"

#include <cstdlib>

#include "cli/load_library.h"
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
    constexpr const char* kLibrary = "libegc_cli_torch.so";
    tell_openblas_the_processor();
    const int threads = num_threads();
    using Entry = const TorchModule* (*)();
    const auto entry = reinterpret_cast<Entry>(load_entry(kLibrary, "egc_torch_module"));
    entry()->set_num_threads(threads);  // LibTorch comes with a number of its own
    return entry();
  }();
  return *module;
}

}  // namespace egc::cli
