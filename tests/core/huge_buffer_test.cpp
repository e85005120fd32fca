// Blocks on huge pages: aligned, whole, reused when they fit, and all accounted for.
#include "egc/core/huge_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <vector>

#include "egc/core/parallel.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"

namespace egc {
namespace {

constexpr size_t kPage = size_t{2} << 20;

// The pool is the process's: every test begins with nothing waiting and counts from there.
class HugeBuffer : public ::testing::Test {
 protected:
  HugeBuffer() {
    huge_trim();
    before_ = huge_buffer_stats().in_use;
  }
  ~HugeBuffer() override { huge_trim(); }

  void expect_pages(size_t in_use, size_t waiting) const {
    EXPECT_EQ(huge_buffer_stats().in_use - before_, in_use * kPage);
    EXPECT_EQ(huge_buffer_stats().waiting, waiting * kPage);
  }

 private:
  size_t before_;
};

HugeArray<unsigned char> filled(size_t bytes, unsigned char value) {
  auto block = make_huge_array<unsigned char>(static_cast<int64_t>(bytes));
  std::memset(block.get(), value, bytes);
  return block;
}

bool holds(const HugeArray<unsigned char>& block, size_t bytes, unsigned char value) {
  return std::all_of(block.get(), block.get() + bytes, [=](auto b) { return b == value; });
}

TEST_F(HugeBuffer, EverySizeIsAligned) {
  for (const size_t bytes : {size_t{0}, size_t{1}, kPage - 1, kPage, kPage + 1, 5 * kPage}) {
    const auto block = make_huge_array<char>(static_cast<int64_t>(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.get()) % 64, 0U) << bytes;
  }
}

TEST_F(HugeBuffer, BlocksAreWholeAndDisjoint) {
  const std::vector<size_t> sizes = {1, kPage - 1, kPage, kPage + 1, 3 * kPage + 17};
  std::vector<HugeArray<unsigned char>> blocks;
  for (size_t k = 0; k < sizes.size(); ++k)
    blocks.push_back(filled(sizes[k], static_cast<unsigned char>(k + 1)));
  for (size_t k = 0; k < sizes.size(); ++k)
    EXPECT_TRUE(holds(blocks[k], sizes[k], static_cast<unsigned char>(k + 1))) << sizes[k];
}

TEST_F(HugeBuffer, StatsCountWholePages) {
  expect_pages(0, 0);
  void* one = huge_allocate(1);
  void* three = huge_allocate(2 * kPage + 1);
  expect_pages(4, 0);
  huge_free(one);
  expect_pages(3, 1);
  huge_free(three);
  expect_pages(0, 4);
  huge_trim();
  expect_pages(0, 0);
}

TEST_F(HugeBuffer, FreedBlockOfTheSameSizeComesBack) {
  void* first = huge_allocate(4 * kPage);
  huge_free(first);
  void* second = huge_allocate(4 * kPage);
  EXPECT_EQ(second, first);
  expect_pages(4, 0);
  huge_free(second);
}

TEST_F(HugeBuffer, BlockAQuarterTooLargeIsTaken) {
  huge_free(huge_allocate(10 * kPage));
  void* smaller = huge_allocate(8 * kPage);
  expect_pages(10, 0);
  huge_free(smaller);
  expect_pages(0, 10);
}

TEST_F(HugeBuffer, BlockMuchTooLargeIsNotTaken) {
  huge_free(huge_allocate(10 * kPage));
  const auto smaller = make_huge_array<char>(4 * kPage);
  expect_pages(4, 0);
}

// Sizes of steps differ: fresh pages cost more than a block that is too large.
TEST_F(HugeBuffer, BlockTwiceTooLargeIsTakenBeforePagesAreMapped) {
  void* block = huge_allocate(10 * kPage);
  huge_free(block);
  void* smaller = huge_allocate(6 * kPage);
  EXPECT_EQ(smaller, block);
  huge_free(smaller);
  void* fits = huge_allocate(2 * kPage);  // a quarter more than was ever in use may be kept
  expect_pages(2, 10);
  huge_free(fits);
}

TEST_F(HugeBuffer, SmallestFittingBlockIsTaken) {
  void* large = huge_allocate(10 * kPage);
  void* fitting = huge_allocate(9 * kPage);
  huge_free(large);
  huge_free(fitting);
  const auto block = make_huge_array<char>(9 * kPage);
  EXPECT_EQ(static_cast<void*>(block.get()), fitting);
  expect_pages(9, 10);
}

TEST_F(HugeBuffer, BlockTooSmallIsNotTaken) {
  huge_free(huge_allocate(9 * kPage));
  const auto block = make_huge_array<char>(10 * kPage);
  expect_pages(10, 0);
}

TEST_F(HugeBuffer, RisingSizesDoNotPileUp) {
  size_t largest = 0;
  for (size_t pages = 1; pages <= 40; pages += 3) {
    huge_free(huge_allocate(pages * kPage));
    largest = std::max(largest, huge_buffer_stats().waiting);
  }
  EXPECT_LE(largest, 40 * kPage);
}

TEST_F(HugeBuffer, TrimSparesBlocksInUse) {
  const auto block = filled(kPage, 7);
  huge_free(huge_allocate(kPage));
  huge_trim();
  expect_pages(1, 0);
  EXPECT_TRUE(holds(block, kPage, 7));
}

TEST_F(HugeBuffer, ForeignPointersAreIgnored) {
  int local = 0;
  huge_free(nullptr);
  huge_free(&local);
  expect_pages(0, 0);
}

TEST_F(HugeBuffer, RefusesWhatNoMachineHas) {
  testing::expect_error(ErrorKind::kSystem, {"memory"}, [] { huge_allocate(size_t{1} << 60); });
  EXPECT_THROW(huge_allocate(std::numeric_limits<size_t>::max()), Error);
  expect_pages(0, 0);
}

TEST_F(HugeBuffer, CountsThatAreNoSizeAreRefused) {
  EXPECT_THROW(make_huge_array<double>(-1), Error);
  // Times eight this is 2^64 + 8: the product must not wrap to a block of eight bytes.
  EXPECT_THROW(make_huge_array<double>((int64_t{1} << 61) + 1), Error);
}

TEST_F(HugeBuffer, BuffersOfAnySizeAreAlignedAndWhole) {
  std::vector<std::shared_ptr<void>> buffers;
  const std::vector<size_t> sizes = {0,         1,        65535, 65536, 100000, kPage / 2 - 1,
                                     kPage / 2, kPage + 1};
  for (const size_t bytes : sizes) {
    buffers.push_back(make_buffer(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers.back().get()) % 64, 0U) << bytes;
    std::memset(buffers.back().get(), static_cast<int>(buffers.size()), bytes);
  }
  for (size_t k = 0; k < sizes.size(); ++k) {
    const auto* bytes = static_cast<const unsigned char*>(buffers[k].get());
    EXPECT_TRUE(std::all_of(bytes, bytes + sizes[k], [=](auto b) { return b == k + 1; }))
        << sizes[k];
  }
}

// A training step asks for the same sizes again: no pages may be touched anew.
TEST_F(HugeBuffer, BuffersOfAStepComeBack) {
  for (const size_t bytes : {size_t{90000}, size_t{700000}, size_t{3000000}}) {
    const void* first = make_buffer(bytes).get();
    EXPECT_EQ(make_buffer(bytes).get(), first) << bytes;
    EXPECT_EQ(make_buffer(bytes - bytes / 16).get(), first) << bytes;
  }
}

TEST_F(HugeBuffer, ServesManyThreads) {
  const testing::ThreadCount scope(8);
  std::atomic<int> spoiled{0};
  parallel_tasks(64, [&](int64_t task) {
    const size_t bytes = (1 + task % 3) * kPage;
    const auto block = filled(bytes, static_cast<unsigned char>(task));
    if (!holds(block, bytes, static_cast<unsigned char>(task))) ++spoiled;
  });
  EXPECT_EQ(spoiled, 0);
  huge_trim();
  expect_pages(0, 0);
}

}  // namespace
}  // namespace egc
