#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "egc/core/parallel.h"

namespace egc {

int available_cores() {
  // The kernel refuses a set that is smaller than its own.
  for (size_t cores = 1024; cores <= size_t{1} << 20; cores *= 4) {
    const size_t bytes = CPU_ALLOC_SIZE(cores);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(cores),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    if (set == nullptr) return 1;
    if (sched_getaffinity(0, bytes, set.get()) == 0)
      return std::max(1, CPU_COUNT_S(bytes, set.get()));
    if (errno != EINVAL) return 1;
  }
  return 1;
}

}  // namespace egc
