#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "egc/core/crc32.h"
#include "egc/core/hash64.h"

// What stands in for libxxhash, beside it.
#define hash64 plain_hash64
#include "egc/core/hash64_plain.cpp"  // NOLINT
#undef hash64

namespace egc {
namespace {

// The check values of the catalogue of CRCs.
TEST(Crc32, HasTheCheckValues) {
  constexpr std::string_view kDigits = "123456789";
  EXPECT_EQ(crc32(0, kDigits.data(), kDigits.size()), 0xCBF43926U);
  EXPECT_EQ(crc32c(kDigits), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);  // RFC 3720, B.4
}

TEST(Crc32, GoesOnAnywhere) {
  std::string text;
  for (int k = 0; k < 100; ++k) text += static_cast<char>(k * 37);
  const uint32_t whole = crc32(0, text.data(), text.size());
  for (size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(crc32(crc32(0, text.data(), cut), text.data() + cut, text.size() - cut), whole);
}

// Of files that other builds wrote, so both must agree, at every length that has a way of its own.
TEST(Hash64, IsTheSameWithAndWithoutTheLibrary) {
  EXPECT_EQ(hash64(""), 0x2D06800538D394C2U);
  std::vector<unsigned char> bytes(70'000);
  uint32_t state = 1;
  for (unsigned char& b : bytes)
    b = static_cast<unsigned char>((state = state * 1664525U + 1013904223U) >> 24);
  for (size_t n = 0; n < bytes.size(); n += n < 2100 ? 1 : 997)
    ASSERT_EQ(plain_hash64(bytes.data() + 1, n), hash64(bytes.data() + 1, n)) << n;
}

}  // namespace
}  // namespace egc
