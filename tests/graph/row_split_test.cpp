// Row ranges: they cover everything in order, and none works much longer than the others.
#include "egc/graph/row_split.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "egc/core/rng.h"

namespace egc {
namespace {

std::vector<int64_t> offsets_of(const std::vector<int64_t>& degrees) {
  std::vector<int64_t> offsets = {0};
  for (const int64_t degree : degrees) offsets.push_back(offsets.back() + degree);
  return offsets;
}

std::vector<int64_t> random_degrees(int64_t rows, uint32_t bound, uint64_t seed) {
  Rng rng(seed);
  std::vector<int64_t> degrees(rows);
  for (int64_t& degree : degrees) degree = rng.below(bound);
  return degrees;
}

void expect_cover(const std::vector<RowRange>& ranges, int64_t rows) {
  int64_t at = 0;
  for (const RowRange range : ranges) {
    ASSERT_EQ(range.begin, at);
    ASSERT_LT(range.begin, range.end);
    at = range.end;
  }
  EXPECT_EQ(at, rows);
}

int64_t work_of(const std::vector<int64_t>& offsets, RowRange range) {
  return offsets[range.end] - offsets[range.begin] + range.end - range.begin;
}

// No range exceeds the ideal by a row or more.
void expect_good_split(const std::vector<int64_t>& degrees, int64_t parts) {
  const auto offsets = offsets_of(degrees);
  const auto rows = static_cast<int64_t>(degrees.size());
  const auto ranges = split_rows(offsets, parts);
  expect_cover(ranges, rows);
  EXPECT_LE(static_cast<int64_t>(ranges.size()), parts);
  const int64_t ideal = (offsets.back() + rows + parts - 1) / parts;
  const int64_t heaviest = rows == 0 ? 0 : *std::max_element(degrees.begin(), degrees.end()) + 1;
  for (const RowRange range : ranges)
    EXPECT_LT(work_of(offsets, range), ideal + heaviest)
        << rows << " rows in " << parts << " parts, [" << range.begin << ", " << range.end << ')';
}

TEST(SplitRows, CoversInOrderAndBalances) {
  for (const int64_t rows : {1, 2, 3, 10, 97, 1000})
    for (const int64_t parts : {1, 2, 3, 7, 64, 999, 1000, 5000})
      for (const uint32_t bound : {1U, 2U, 20U})
        expect_good_split(random_degrees(rows, bound, rows + parts), parts);
}

TEST(SplitRows, EqualRowsGiveEqualRanges) {
  const auto ranges = split_rows(offsets_of(std::vector<int64_t>(1000, 3)), 10);
  ASSERT_EQ(ranges.size(), 10U);
  for (const RowRange range : ranges) EXPECT_EQ(range.end - range.begin, 100);
}

TEST(SplitRows, EmptyRowsCountAsWork) {
  const auto ranges = split_rows(offsets_of(std::vector<int64_t>(90, 0)), 3);
  ASSERT_EQ(ranges.size(), 3U);
  for (const RowRange range : ranges) EXPECT_EQ(range.end - range.begin, 30);
}

TEST(SplitRows, MorePartsThanRowsGiveOneRowEach) {
  const auto ranges = split_rows(offsets_of({5, 5, 5}), 100);
  EXPECT_EQ(ranges.size(), 3U);
  expect_cover(ranges, 3);
}

TEST(SplitRows, OnePartIsEverything) {
  const auto ranges = split_rows(offsets_of({0, 9, 0, 2}), 1);
  ASSERT_EQ(ranges.size(), 1U);
  expect_cover(ranges, 4);
}

TEST(SplitRows, NoRowsGiveNoRanges) {
  EXPECT_TRUE(split_rows(offsets_of({}), 4).empty());
  EXPECT_TRUE(split_rows({}, 4).empty());
}

TEST(SplitRows, HubDoesNotDragItsNeighboursAlong) {
  for (const size_t hub : {0, 50, 99}) {
    std::vector<int64_t> degrees(100, 1);
    degrees[hub] = 100'000;
    expect_good_split(degrees, 8);
  }
}

TEST(SplitRows, AllWorkAtTheEndStillUsesTheParts) {
  std::vector<int64_t> degrees(100, 0);
  std::fill(degrees.end() - 8, degrees.end(), 1000);
  EXPECT_EQ(split_rows(offsets_of(degrees), 8).size(), 8U);
  expect_good_split(degrees, 8);
}

TEST(SplitRows, OffsetsNeedNotBeginAtZero) {
  std::vector<int64_t> offsets = offsets_of(random_degrees(200, 9, 4));
  const auto want = split_rows(offsets, 6);
  for (int64_t& offset : offsets) offset += 1'000'000;
  const auto got = split_rows(offsets, 6);
  ASSERT_EQ(got.size(), want.size());
  for (size_t k = 0; k < want.size(); ++k) EXPECT_EQ(got[k].end, want[k].end);
}

TEST(SplitRows, VeryManyEdgesDoNotOverflow) {
  constexpr int64_t kDegree = int64_t{1} << 58;
  const auto ranges = split_rows(offsets_of(std::vector<int64_t>(16, kDegree)), 4);
  ASSERT_EQ(ranges.size(), 4U);
  for (const RowRange range : ranges) EXPECT_EQ(range.end - range.begin, 4);
}

TEST(SplitEvenly, SizesDifferByAtMostOne) {
  for (const int64_t rows : {1, 4, 5, 9, 10, 816, 8191}) {
    const auto ranges = split_evenly(rows, 4);
    ASSERT_EQ(std::ssize(ranges), (rows + 3) / 4);
    expect_cover(ranges, rows);
    const int64_t least = rows / std::ssize(ranges);
    for (const RowRange range : ranges) {
      EXPECT_GE(range.end - range.begin, least);
      EXPECT_LE(range.end - range.begin, least + 1);
      EXPECT_LE(range.end - range.begin, 4);
    }
  }
}

TEST(SplitEvenly, ExactMultipleLeavesNoEmptyRange) {
  const auto ranges = split_evenly(8, 4);
  EXPECT_EQ(ranges.size(), 2U);
  expect_cover(ranges, 8);
}

TEST(SplitEvenly, NoRowsGiveNoRanges) { EXPECT_TRUE(split_evenly(0, 4).empty()); }

}  // namespace
}  // namespace egc
