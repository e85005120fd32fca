#include <xxhash.h>

#include "egc/core/hash64.h"

namespace egc {

uint64_t hash64(const void* data, size_t bytes) { return XXH3_64bits(data, bytes); }

}  // namespace egc
