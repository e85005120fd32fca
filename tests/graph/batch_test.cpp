// Batches: every graph is a block on the diagonal and nothing else changes.
#include "egc/graph/batch.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"

namespace egc {
namespace {

using testing::expect_error;
using Ids = std::vector<int64_t>;

template <class T>
std::vector<T> copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

Csr triangle(std::vector<float> weights = {}) {
  return Csr::from_edges(3, Ids{0, 1, 2}, Ids{1, 2, 0}, weights);
}

TEST(Batch, BlocksLieOnTheDiagonal) {
  const Csr pair = Csr::from_edges(2, Ids{0, 1, 1}, Ids{1, 0, 1});
  const Batch batch = make_batch(std::vector{triangle(), pair, triangle()});
  EXPECT_EQ(batch.num_graphs(), 3);
  EXPECT_EQ(batch.first_node, (Ids{0, 3, 5, 8}));
  EXPECT_EQ(batch.graph.num_targets(), 8);
  EXPECT_EQ(batch.graph.num_sources(), 8);
  EXPECT_EQ(copy(batch.graph.offsets()), (Ids{0, 1, 2, 3, 4, 6, 7, 8, 9}));
  EXPECT_EQ(copy(batch.graph.sources()), (std::vector<int32_t>{2, 0, 1, 4, 3, 4, 7, 5, 6}));
  EXPECT_TRUE(batch.graph.weights().empty());
}

TEST(Batch, OneGraphIsItself) {
  const Batch batch = make_batch(std::vector{triangle({1.0F, 2.0F, 3.0F})});
  const Csr alone = triangle({1.0F, 2.0F, 3.0F});
  EXPECT_EQ(copy(batch.graph.offsets()), copy(alone.offsets()));
  EXPECT_EQ(copy(batch.graph.sources()), copy(alone.sources()));
  EXPECT_EQ(copy(batch.graph.weights()), copy(alone.weights()));
}

TEST(Batch, EmptyGraphsKeepTheirPlace) {
  const Csr nothing;
  const Csr lonely = Csr::from_edges(2, {}, {});
  const Batch batch = make_batch(std::vector{nothing, triangle(), nothing, lonely, triangle()});
  EXPECT_EQ(batch.first_node, (Ids{0, 0, 3, 3, 5, 8}));
  EXPECT_EQ(copy(batch.graph.offsets()), (Ids{0, 1, 2, 3, 3, 3, 4, 5, 6}));
  EXPECT_EQ(copy(batch.graph.sources()), (std::vector<int32_t>{2, 0, 1, 7, 5, 6}));
}

TEST(Batch, NoGraphs) {
  const Batch batch = make_batch({});
  EXPECT_EQ(batch.num_graphs(), 0);
  EXPECT_EQ(batch.first_node, Ids{0});
  EXPECT_EQ(batch.graph.num_targets(), 0);
}

TEST(Batch, WeightsFollowTheirEdges) {
  // Row 0 of the triangle holds edge 2 -> 0, the last of the list.
  const Batch batch =
      make_batch(std::vector{triangle({1.0F, 2.0F, 3.0F}), triangle({4.0F, 5.0F, 6.0F})});
  EXPECT_EQ(copy(batch.graph.weights()), (std::vector<float>{3, 1, 2, 6, 4, 5}));
}

TEST(Batch, GraphsWithoutEdgesNeedNoWeights) {
  const Csr lonely = Csr::from_edges(1, {}, {});
  const Batch batch = make_batch(std::vector{lonely, triangle({1.0F, 2.0F, 3.0F}), lonely});
  EXPECT_EQ(copy(batch.graph.weights()), (std::vector<float>{3, 1, 2}));
}

TEST(Batch, WeightsOfSomeAreRefused) {
  const Csr weighted = triangle({1.0F, 2.0F, 3.0F});
  for (const auto& graphs : {std::vector{weighted, triangle()}, std::vector{triangle(), weighted}})
    expect_error(ErrorKind::kData, {"make_batch", "weights"}, [&] { make_batch(graphs); });
}

TEST(Batch, RectangularIsRefused) {
  const Csr wide = Csr::from_edges(2, 3, Ids{2}, Ids{0});
  expect_error(ErrorKind::kData, {"make_batch", "2 targets and 3 other sources"}, [&] {
    make_batch(std::vector{triangle(), wide});
  });
}

TEST(Batch, MoreNodesThanIdsAreRefused) {
  const Csr large = Csr::from_edges(1 << 22, {}, {});  // copies share one set of arrays
  expect_error(ErrorKind::kData, {"2147483647", "2147483648"},
               [&] { make_batch(std::vector<Csr>(512, large)); });
}

}  // namespace
}  // namespace egc
