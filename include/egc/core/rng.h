// Counter-based random numbers: value k of stream (seed, stream) is a pure function of the three,
// so the values do not depend on threads or on the order of draws. Philox4x32-10 (Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace egc {

// A random number generator; works with the standard library's distributions and algorithms.
class Rng {
 public:
  using result_type = uint32_t;                                   // 32 random bits per draw
  static constexpr result_type min() { return 0; }                // smallest value
  static constexpr result_type max() { return ~result_type{0}; }  // largest value

  // Begins at position 0 of the stream; streams of one seed are independent.
  explicit Rng(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  // The next 32 random bits.
  result_type operator()() { return word(position_++); }

  // The value at a position of the stream; does not move the generator.
  result_type word(uint64_t position) const { return block(position / 4)[position % 4]; }

  void seek(uint64_t position) { position_ = position; }  // continues from this position
  uint64_t position() const { return position_; }         // of the next value

  // Uniform in [0, 1) with 24 bits, exact in float.
  float uniform() { return static_cast<float>((*this)() >> 8) * 0x1p-24F; }

  // Uniform integer in [0, bound), without bias (Lemire 2019).
  uint32_t below(uint32_t bound) {
    for (;;) {
      const uint64_t product = uint64_t{(*this)()} * bound;
      const auto low = static_cast<uint32_t>(product);
      if (low >= bound || low >= (0U - bound) % bound) return static_cast<uint32_t>(product >> 32);
    }
  }

  // Ten rounds over counter (block, stream) and key seed.
  std::array<uint32_t, 4> block(uint64_t index) const {
    std::array<uint32_t, 4> x = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                                 static_cast<uint32_t>(stream_),
                                 static_cast<uint32_t>(stream_ >> 32)};
    auto k0 = static_cast<uint32_t>(seed_);
    auto k1 = static_cast<uint32_t>(seed_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53U} * x[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57U} * x[2];
      x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    return x;
  }

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t position_ = 0;
};

}  // namespace egc
