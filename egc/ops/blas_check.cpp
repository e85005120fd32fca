#include "egc/ops/blas_check.h"

#include <dlfcn.h>

#include <mutex>
#include <string>

#include "egc/core/log.h"
#include "egc/kernels/target.h"

namespace egc::ops {

void warn_of_slow_blas() {
  static std::once_flag once;
  std::call_once(once, [] {
    using CoreName = char* (*)();
    const auto name = reinterpret_cast<CoreName>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
    if (name == nullptr) return;  // another BLAS
    const std::string best = kernels::available_targets().front();
    if (std::string(name()) == "Prescott" && (best == "AVX3" || best == "AVX2"))
      log_warning(
          "OpenBLAS does not know this processor and uses kernels of 2004, several times slower; "
          "set OPENBLAS_CORETYPE={} before the program starts",
          best == "AVX3" ? "SkylakeX" : "Haswell");
  });
}

}  // namespace egc::ops
