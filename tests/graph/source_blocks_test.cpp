// Rows cut by blocks of sources: every edge in one block, in order; no blocks where they do not
// pay.
#include "egc/graph/source_blocks.h"

#include <gtest/gtest.h>

#include "tests/kernels/random_problem.h"

namespace egc {
namespace {

TEST(SourceBlocks, CoverEveryRowInOrder) {
  const Csr graph = testing::dense_graph(100);
  const SourceBlocks& blocks = graph.source_blocks();
  ASSERT_EQ(blocks.count, 3);
  const int64_t rows = graph.num_targets();
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t first = graph.offsets()[i];
    ASSERT_EQ(blocks.begin[i], 0);
    ASSERT_EQ(blocks.begin[blocks.count * rows + i], graph.offsets()[i + 1] - first);
    int32_t last_of_block = -1;
    for (int64_t b = 0; b < blocks.count; ++b) {
      const int64_t begin = blocks.begin[b * rows + i];
      const int64_t end = blocks.begin[(b + 1) * rows + i];
      ASSERT_LE(begin, end);
      for (int64_t e = begin; e < end; ++e) {
        ASSERT_EQ(graph.sources()[first + e] / 2048, b);
        ASSERT_GE(graph.sources()[first + e], last_of_block);
        last_of_block = graph.sources()[first + e];
      }
    }
  }
}

TEST(SourceBlocks, NoneWhereTheyDoNotPayOrRowsAreNotSorted) {
  EXPECT_EQ(testing::awkward_graph().source_blocks().count, 0);
  EXPECT_EQ(Csr().source_blocks().count, 0);
  EXPECT_FALSE(is_dense(1000, 4096, 1'000'000));        // few sources
  EXPECT_FALSE(is_dense(169'343, 169'343, 2'315'598));  // few edges
  EXPECT_TRUE(is_dense(58'000, 58'000, 28'000'000));
  const Csr sorted = testing::dense_graph(100);
  std::vector<int32_t> sources(sorted.sources().begin(), sorted.sources().end());
  std::swap(sources[0], sources[5]);
  const Csr shuffled(sorted.num_targets(), sorted.num_sources(),
                     {sorted.offsets().begin(), sorted.offsets().end()}, sources);
  EXPECT_EQ(shuffled.source_blocks().count, 0);
}

}  // namespace
}  // namespace egc
