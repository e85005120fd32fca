// XXH3 of 64 bits with its default secret, after the specification of xxHash (Yann Collet). Inputs
// of different lengths have ways of their own; long ones are taken in stripes of 64 bytes.
#include <array>
#include <bit>
#include <cstring>

#include "egc/core/hash64.h"

namespace egc {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

constexpr uint64_t kPrime32A = 0x9E3779B1, kPrime32B = 0x85EBCA77, kPrime32C = 0xC2B2AE3D;
constexpr uint64_t kPrime64A = 0x9E3779B185EBCA87, kPrime64B = 0xC2B2AE3D27D4EB4F,
                   kPrime64C = 0x165667B19E3779F9, kPrime64D = 0x85EBCA77C2B2AE63,
                   kPrime64E = 0x27D4EB2F165667C5;
constexpr uint64_t kMix1 = 0x165667919E3779F9, kMix2 = 0x9FB21C651E98DF25;

constexpr size_t kStripe = 64;
constexpr size_t kSecretBytes = 192;
constexpr size_t kStripesOfBlock = (kSecretBytes - kStripe) / 8;

alignas(64) constexpr uint64_t kSecretWords[] = {
    0xBE4BA423396CFEB8, 0x1CAD21F72C81017C, 0xDB979083E96DD4DE, 0x1F67B3B7A4A44072,
    0x78E5C0CC4EE679CB, 0x2172FFCC7DD05A82, 0x8E2443F7744608B8, 0x4C263A81E69035E0,
    0xCB00C391BB52283C, 0xA32E531B8B65D088, 0x4EF90DA297486471, 0xD8ACDEA946EF1938,
    0x3F349CE33F76FAA8, 0x1D4F0BC7C7BBDCF9, 0x3159B4CD4BE0518A, 0x647378D9C97E9FC8,
    0xC3EBD33483ACC5EA, 0xEB6313FAFFA081C5, 0x49DAF0B751DD0D17, 0x9E68D429265516D3,
    0xFCA1477D58BE162B, 0xCE31D07AD1B8F88F, 0x280416958F3ACB45, 0x7E404BBBCAFBD7AF};
static_assert(sizeof kSecretWords == kSecretBytes);

using Bytes = const unsigned char*;

template <class T>
uint64_t word(Bytes at) {
  T value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}
uint64_t word32(Bytes at) { return word<uint32_t>(at); }
uint64_t word64(Bytes at) { return word<uint64_t>(at); }
uint64_t secret64(size_t at) { return word64(reinterpret_cast<Bytes>(kSecretWords) + at); }
uint64_t secret32(size_t at) { return word32(reinterpret_cast<Bytes>(kSecretWords) + at); }

uint64_t multiply_and_fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t avalanche(uint64_t h) {
  h = (h ^ (h >> 37)) * kMix1;
  return h ^ (h >> 32);
}

uint64_t strong_avalanche(uint64_t h) {
  h = (h ^ (h >> 33)) * kPrime64B;
  h = (h ^ (h >> 29)) * kPrime64C;
  return h ^ (h >> 32);
}

uint64_t up_to_16(Bytes in, size_t n) {
  if (n == 0) return strong_avalanche(secret64(56) ^ secret64(64));
  if (n <= 3) {
    const uint64_t all = uint64_t{in[0]} << 16 | uint64_t{in[n / 2]} << 24 | in[n - 1] | n << 8;
    return strong_avalanche(all ^ secret32(0) ^ secret32(4));
  }
  if (n <= 8) {
    uint64_t h = (word32(in + n - 4) + (word32(in) << 32)) ^ secret64(8) ^ secret64(16);
    h ^= std::rotl(h, 49) ^ std::rotl(h, 24);
    h *= kMix2;
    h ^= (h >> 35) + n;
    h *= kMix2;
    return h ^ (h >> 28);
  }
  const uint64_t low = word64(in) ^ secret64(24) ^ secret64(32);
  const uint64_t high = word64(in + n - 8) ^ secret64(40) ^ secret64(48);
  return avalanche(n + __builtin_bswap64(low) + high + multiply_and_fold(low, high));
}

uint64_t mix_16(Bytes in, size_t secret) {
  return multiply_and_fold(word64(in) ^ secret64(secret), word64(in + 8) ^ secret64(secret + 8));
}

uint64_t up_to_128(Bytes in, size_t n) {
  uint64_t sum = n * kPrime64A;
  for (size_t k = 0; 32 * k < n; ++k)
    sum += mix_16(in + 16 * k, 32 * k) + mix_16(in + n - 16 * (k + 1), 32 * k + 16);
  return avalanche(sum);
}

uint64_t up_to_240(Bytes in, size_t n) {
  uint64_t sum = n * kPrime64A;
  for (size_t k = 0; k < 8; ++k) sum += mix_16(in + 16 * k, 16 * k);
  sum = avalanche(sum);
  for (size_t k = 8; k < n / 16; ++k) sum += mix_16(in + 16 * k, 16 * (k - 8) + 3);
  return avalanche(sum + mix_16(in + n - 16, 136 - 17));
}

using Accumulators = std::array<uint64_t, 8>;

void add_stripe(Accumulators& sums, Bytes in, size_t secret) {
  for (size_t k = 0; k < 8; ++k) {
    const uint64_t value = word64(in + 8 * k);
    const uint64_t key = value ^ secret64(secret + 8 * k);
    sums[k ^ 1] += value;
    sums[k] += (key & 0xFFFFFFFF) * (key >> 32);
  }
}

uint64_t longer(Bytes in, size_t n) {
  Accumulators sums = {kPrime32C, kPrime64A, kPrime64B, kPrime64C,
                       kPrime64D, kPrime32B, kPrime64E, kPrime32A};
  // The last stripe ends with the input, whatever the others left.
  const size_t stripes = (n - 1) / kStripe;
  for (size_t s = 0; s < stripes; ++s) {
    add_stripe(sums, in + s * kStripe, s % kStripesOfBlock * 8);
    if (s % kStripesOfBlock + 1 < kStripesOfBlock) continue;
    for (size_t k = 0; k < 8; ++k)
      sums[k] = (sums[k] ^ (sums[k] >> 47) ^ secret64(kSecretBytes - kStripe + 8 * k)) * kPrime32A;
  }
  add_stripe(sums, in + n - kStripe, kSecretBytes - kStripe - 7);
  uint64_t h = n * kPrime64A;
  for (size_t k = 0; k < 4; ++k)
    h += multiply_and_fold(sums[2 * k] ^ secret64(11 + 16 * k),
                           sums[2 * k + 1] ^ secret64(19 + 16 * k));
  return avalanche(h);
}

}  // namespace

uint64_t hash64(const void* data, size_t bytes) {
  const auto* in = static_cast<Bytes>(data);
  if (bytes <= 16) return up_to_16(in, bytes);
  if (bytes <= 128) return up_to_128(in, bytes);
  if (bytes <= 240) return up_to_240(in, bytes);
  return longer(in, bytes);
}

}  // namespace egc
