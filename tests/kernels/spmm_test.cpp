// SpMM against the scalar reference, on every instruction set.
#include "egc/engine/spmm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "egc/kernels/target.h"
#include "tests/kernels/random_problem.h"

namespace egc {
namespace {

template <class T>
void compare(const Csr& graph, int64_t columns, const std::string& what) {
  const std::vector<double> x = testing::grid_values(graph.num_sources() * columns, 3);
  const std::vector<double> want = kernels::reference_spmm(graph.view(), x.data(), columns);
  std::vector<T> out(want.size(), std::numeric_limits<T>::quiet_NaN());
  spmm(graph, testing::cast<T>(x).data(), columns, out.data());
  for (size_t k = 0; k < want.size(); ++k)
    ASSERT_EQ(static_cast<double>(out[k]), want[k])
        << what << " columns=" << columns;  // exact grid
}

TEST(Spmm, EveryColumnCountAndTarget) {
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    for (const bool weighted : {false, true})
      for (int64_t columns = 0; columns <= 70; ++columns) {
        compare<float>(testing::awkward_graph(weighted), columns, target);
        compare<double>(testing::awkward_graph(weighted), columns, target);
      }
  }
  kernels::force_target("");
}

TEST(Spmm, DenseGraphsInBlocksOfSources) {
  for (const std::string& target : kernels::available_targets()) {
    kernels::force_target(target);
    for (const int64_t columns : {kBlockedColumns - 1, kBlockedColumns, kBlockedColumns + 1})
      for (const int64_t rows : {60, 2500}) {
        compare<float>(testing::dense_graph(rows), columns, target);
        compare<double>(testing::dense_graph(rows), columns, target);
      }
  }
  kernels::force_target("");
}

TEST(Spmm, MoreThan32BitsOfElements) {
  // 2^31 edges times columns would need a machine of its own; strides beyond 2^31 elements do not.
  constexpr int64_t kRows = 70'000;
  constexpr int64_t kColumns = 32'768;  // 2.3e9 elements, touched only in two rows
  const Csr graph =
      Csr::from_edges(2, kRows, std::vector<int64_t>{kRows - 1, 0}, std::vector<int64_t>{1, 0});
  const std::unique_ptr<float[]> x(new (std::nothrow) float[kRows * kColumns]);
  if (!x) GTEST_SKIP() << "needs 9 GB of address space";
  for (int64_t c = 0; c < kColumns; ++c) {
    x[c] = 1.0F;
    x[(kRows - 1) * kColumns + c] = static_cast<float>(c % 7);
  }
  std::vector<float> out(2 * kColumns);
  spmm(graph, x.get(), kColumns, out.data());
  for (int64_t c = 0; c < kColumns; ++c) {
    ASSERT_EQ(out[c], 1.0F);
    ASSERT_EQ(out[kColumns + c], static_cast<float>(c % 7));
  }
}

TEST(Target, ForcedByNameOrRefused) {
  const std::vector<std::string> names = kernels::available_targets();
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    kernels::force_target(name);
    EXPECT_EQ(kernels::current_target(), name);
  }
  kernels::force_target("");
  EXPECT_EQ(kernels::current_target(), names.front());
  try {
    kernels::force_target("MMX");
    FAIL() << "MMX was accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("MMX"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find(names.front()), std::string::npos);
  }
}

}  // namespace
}  // namespace egc
