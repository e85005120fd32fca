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

// LibTorch warns its developers (an operator is "in beta"); users can do nothing about it. Read
// when it is loaded, the first where it was built with glog, the second where not.
void silence_warnings_of_libtorch() {
  setenv("GLOG_minloglevel", "2", /*replace=*/0);
  setenv("TORCH_CPP_LOG_LEVEL", "ERROR", /*replace=*/0);
}

}  // namespace

const TorchModule& torch_module() {
  static const TorchModule* const module = [] {
    constexpr const char* kLibrary = "libegc_cli_torch.so";
    tell_openblas_the_processor();
    silence_warnings_of_libtorch();
    const int threads = num_threads();
    using Entry = const TorchModule* (*)();
    const auto entry = reinterpret_cast<Entry>(load_entry(kLibrary, "egc_torch_module"));
    entry()->set_num_threads(threads);  // LibTorch comes with a number of its own
    return entry();
  }();
  return *module;
}

}  // namespace egc::cli
