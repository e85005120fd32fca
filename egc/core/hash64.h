// A hash of 64 bits that is the same everywhere, for checksums of datasets: XXH3.
// By libxxhash where it is there (hash64_xxhash.cpp), else by ourselves (hash64_plain.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace egc {

uint64_t hash64(const void* data, size_t bytes);
inline uint64_t hash64(std::string_view text) { return hash64(text.data(), text.size()); }

}  // namespace egc
