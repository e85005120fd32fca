// The 16-bit floating point types of files: IEEE half precision and bfloat16.
#pragma once

#include <bit>
#include <cstdint>

namespace egc {

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

inline float to_float(BFloat16 b) { return std::bit_cast<float>(uint32_t{b.bits} << 16); }

inline float to_float(Half h) {
  const uint32_t sign = uint32_t{h.bits & 0x8000U} << 16;
  const uint32_t rest = h.bits & 0x7FFFU;
  if (rest >= 0x7C00U)  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7F800000U | ((rest & 0x3FFU) << 13));
  if (rest >= 0x400U) return std::bit_cast<float>(sign | ((rest + (112U << 10)) << 13));
  const float subnormal = static_cast<float>(rest) * 0x1p-24F;
  return sign != 0 ? -subnormal : subnormal;
}

// Both round to the nearest, ties to even.
inline BFloat16 to_bfloat16(float f) {
  const auto bits = std::bit_cast<uint32_t>(f);
  if (f != f) return {static_cast<uint16_t>((bits >> 16) | 0x40U)};
  return {static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16)};
}

inline Half to_half(float f) {
  const auto bits = std::bit_cast<uint32_t>(f);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000U);
  const uint32_t rest = bits & 0x7FFFFFFFU;
  if (rest > 0x7F800000U) return {static_cast<uint16_t>(sign | 0x7E00U)};
  if (rest >= 0x477FF000U) return {static_cast<uint16_t>(sign | 0x7C00U)};  // 65520 and more
  if (rest < 0x38800000U) {  // below 2^-14: an addition rounds to multiples of 2^-24
    const float shifted = std::bit_cast<float>(rest) + 0.5F;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000U))};
  }
  const uint32_t rounded = rest + 0xFFFU + ((rest >> 13) & 1U);
  return {static_cast<uint16_t>(sign | ((rounded >> 13) - (112U << 10)))};
}

}  // namespace egc
