#include "egc/train/crc32c.h"

#include <array>

namespace egc::train {

uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t k = 0; k < 256; ++k) {
      t[k] = k;
      for (int bit = 0; bit < 8; ++bit) t[k] = (t[k] >> 1) ^ ((t[k] & 1) != 0 ? 0x82F63B78U : 0);
    }
    return t;
  }();
  uint32_t crc = ~0U;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

}  // namespace egc::train
