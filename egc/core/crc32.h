// Checksums of 32 bits: CRC-32, as gzip and PNG have it, and CRC-32C (Castagnoli).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace egc {

// Of what `crc` was computed of and then these bytes; it begins with 0.
uint32_t crc32(uint32_t crc, const void* data, size_t bytes);

uint32_t crc32c(std::string_view bytes);

}  // namespace egc
