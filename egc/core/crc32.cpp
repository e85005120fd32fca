#include "egc/core/crc32.h"

#include <array>
#include <bit>
#include <cstring>

namespace egc {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

// tables[k][b]: the byte b, and then k bytes of zero. With eight of them eight bytes are looked up
// at once.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables(uint32_t polynomial) {
  Tables t{};
  for (uint32_t b = 0; b < 256; ++b) {
    t[0][b] = b;
    for (int bit = 0; bit < 8; ++bit)
      t[0][b] = (t[0][b] >> 1) ^ ((t[0][b] & 1) != 0 ? polynomial : 0);
  }
  for (size_t k = 1; k < t.size(); ++k)
    for (uint32_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xFF];
  return t;
}

constexpr Tables kCrc32 = make_tables(0xEDB88320U);
constexpr Tables kCrc32c = make_tables(0x82F63B78U);

uint32_t run(const Tables& t, uint32_t crc, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= t[7 - k][(word >> (8 * k)) & 0xFF];
  }
  for (; bytes > 0; --bytes, ++at) crc = (crc >> 8) ^ t[0][(crc ^ *at) & 0xFF];
  return ~crc;
}

}  // namespace

uint32_t crc32(uint32_t crc, const void* data, size_t bytes) {
  return run(kCrc32, crc, data, bytes);
}

uint32_t crc32c(std::string_view bytes) { return run(kCrc32c, 0, bytes.data(), bytes.size()); }

}  // namespace egc
