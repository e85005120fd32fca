// Philox against the published vectors, and what is built on it.
#include "egc/core/rng.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace egc {
namespace {

using Block = std::array<uint32_t, 4>;

static_assert(std::uniform_random_bit_generator<Rng>);

// kat_vectors of Random123; the counter is (index, stream) and the key is the seed, low word first.
TEST(Rng, PhiloxKnownAnswers) {
  EXPECT_EQ(Rng(0, 0).block(0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Rng(~0ULL, ~0ULL).block(~0ULL),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Rng(0x299f31d0a4093822, 0x0370734413198a2e).block(0x85a308d3243f6a88),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, DrawsTheWordsOfTheBlocksInOrder) {
  Rng rng(7, 3);
  for (uint64_t index = 0; index < 5; ++index)
    for (const uint32_t word : rng.block(index)) EXPECT_EQ(rng(), word);
  EXPECT_EQ(rng.position(), 20U);
}

TEST(Rng, SeekEqualsSequential) {
  Rng sequential(42, 9);
  for (uint64_t position = 0; position < 50; ++position) {
    Rng sought(42, 9);
    sought.seek(position);
    EXPECT_EQ(sequential.position(), position);
    EXPECT_EQ(sought(), sequential()) << position;
  }
}

TEST(Rng, SequenceRunsOverThe32BitsOfACounterWord) {
  constexpr uint64_t kEdge = uint64_t{4} << 32;  // the first word of block 2^32
  Rng rng(1);
  rng.seek(kEdge - 2);
  for (uint64_t k = 0; k < 4; ++k) EXPECT_EQ(rng(), rng.word(kEdge - 2 + k));
  EXPECT_NE(rng.block(uint64_t{1} << 32), rng.block(0));
}

TEST(Rng, WordDoesNotMove) {
  Rng rng(5);
  (void)rng.word(1000);
  EXPECT_EQ(rng.position(), 0U);
}

TEST(Rng, SeedsAndStreamsDiffer) {
  constexpr uint64_t kHigh = uint64_t{1} << 32;  // both halves of each must count
  std::set<Block> blocks;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, kHigh})
    for (const uint64_t stream : {uint64_t{0}, uint64_t{1}, kHigh})
      for (const uint64_t index : {uint64_t{0}, uint64_t{1}, kHigh})
        blocks.insert(Rng(seed, stream).block(index));
  EXPECT_EQ(blocks.size(), 27U);
}

TEST(Rng, UniformStaysBelowOneAndIsSpreadEvenly) {
  Rng rng(11);
  constexpr int kDraws = 100'000;
  double sum = 0;
  for (int k = 0; k < kDraws; ++k) {
    const float u = rng.uniform();
    ASSERT_GE(u, 0.0F);
    ASSERT_LT(u, 1.0F);
    sum += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);  // five standard deviations
}

TEST(Rng, BelowStaysInRange) {
  for (const uint32_t bound : {1U, 2U, 3U, 7U, 1000U, 0x80000000U, 0x80000001U, 0xffffffffU}) {
    Rng rng(3, bound);
    for (int k = 0; k < 2000; ++k) ASSERT_LT(rng.below(bound), bound);
  }
}

// Chi-square of the draws' residues; 30 is beyond the 0.1 % point for up to ten classes.
double chi_square(uint32_t bound, uint32_t classes) {
  constexpr int kDraws = 90'000;
  Rng rng(17);
  std::vector<int> count(classes);
  for (int k = 0; k < kDraws; ++k) ++count[rng.below(bound) % classes];
  const double expected = static_cast<double>(kDraws) / classes;
  double sum = 0;
  for (const int c : count) sum += (c - expected) * (c - expected) / expected;
  return sum;
}

TEST(Rng, BelowIsUniform) {
  EXPECT_LT(chi_square(2, 2), 30);
  EXPECT_LT(chi_square(10, 10), 30);
  // Without the rejection every third value would come twice as often as the others.
  EXPECT_LT(chi_square(3U << 30, 3), 30);
}

}  // namespace
}  // namespace egc
