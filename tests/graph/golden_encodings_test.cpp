// Encodings of nodes against numbers of another implementation.
#include <gtest/gtest.h>

#include "egc/graph/node_encodings.h"
#include "tests/nn/golden_files.h"

namespace egc {
namespace {

using testing::golden_files;

class GoldenRandomWalk : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenRandomWalk, Returns) {
  const SafetensorsFile file(GetParam());
  const NdArray want(file.at("out.rwse"));
  const int64_t nodes = want.size(0);
  const int64_t steps = want.size(1);
  const Csr graph = testing::graph_of(NdArray(file.at("in.edge_index")), nodes);
  const std::vector<double> got = random_walk_returns(graph, steps);
  const auto values = want.values<double>();
  ASSERT_EQ(got.size(), values.size());
  for (int64_t k = 0; k < std::ssize(got); ++k)
    EXPECT_NEAR(got[k], values[k], 1e-12) << "node " << k / steps << ", step " << k % steps + 1;
}

INSTANTIATE_TEST_SUITE_P(Encodings, GoldenRandomWalk, ::testing::ValuesIn(golden_files({"rwse_"})),
                         [](const auto& info) { return testing::golden_name(info.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenRandomWalk);

TEST(GoldenRandomWalks, AreThere) {
  if (!testing::golden_files_are_ours()) return;
  EXPECT_EQ(golden_files({"rwse_"}).size(), 3U);
}

}  // namespace
}  // namespace egc
