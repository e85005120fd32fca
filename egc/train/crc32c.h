// CRC-32C (Castagnoli).
#pragma once

#include <cstdint>
#include <string_view>

namespace egc::train {

uint32_t crc32c(std::string_view bytes);

}  // namespace egc::train
