// The graph: built the same from any order of edges on any number of threads, and never from bad
// ones.
#include "egc/graph/csr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <ostream>
#include <set>

#include "egc/core/rng.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"

namespace egc {
namespace {

using testing::expect_error;
using testing::ThreadCount;
using Ids = std::vector<int64_t>;

constexpr int64_t kTooMany = int64_t{std::numeric_limits<int32_t>::max()} + 1;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// By target, then source, then weight: the order of a finished graph.
struct Edge {
  int64_t target;
  int64_t source;
  float weight = 1.0F;
  auto operator<=>(const Edge&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Edge& e) {
    return out << e.source << "->" << e.target << " (" << e.weight << ')';
  }
};
using Edges = std::vector<Edge>;

Csr build(int64_t num_targets, int64_t num_sources, const Edges& edges, bool weighted) {
  Ids source;
  Ids target;
  std::vector<float> weights;
  for (const Edge& e : edges) {
    source.push_back(e.source);
    target.push_back(e.target);
    if (weighted) weights.push_back(e.weight);
  }
  return num_targets == num_sources
             ? Csr::from_edges(num_targets, source, target, weights)
             : Csr::from_edges(num_targets, num_sources, source, target, weights);
}

Edges edges_of(const Csr& graph) {
  Edges edges;
  for (int64_t i = 0; i < graph.num_targets(); ++i)
    for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e)
      edges.push_back({i, graph.sources()[e], graph.weights().empty() ? 1.0F : graph.weights()[e]});
  return edges;
}

Edges sorted(Edges edges) {
  std::sort(edges.begin(), edges.end());
  return edges;
}

Edges reversed(const Edges& edges) {
  Edges out;
  for (const Edge& e : edges) out.push_back({e.source, e.target, e.weight});
  return sorted(out);
}

// With many duplicates; a weight belongs to its pair of nodes, so that duplicates are alike.
Edges random_edges(int64_t num_targets, int64_t num_sources, int64_t count, uint64_t seed) {
  Rng rng(seed);
  Edges edges;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t target = rng.below(static_cast<uint32_t>(num_targets));
    const int64_t source = rng.below(static_cast<uint32_t>(num_sources));
    edges.push_back({target, source, static_cast<float>(target + 3 * source) * 0.25F});
  }
  return edges;
}

// 0 -> 1 (0.5)   2 -> 1 (1.5)   1 -> 1 twice (8, 16)   1 -> 2 (3)
Csr graph_with_loops(bool weighted) {
  return build(3, 3, {{1, 0, 0.5F}, {1, 2, 1.5F}, {1, 1, 8.0F}, {1, 1, 16.0F}, {2, 1, 3.0F}},
               weighted);
}

void expect_inverse_sqrt(const Csr& graph, bool add_loops, const std::vector<double>& target_degree,
                         const std::vector<double>& source_degree) {
  const auto compare = [](const auto& scale, const std::vector<double>& degree) {
    ASSERT_EQ(scale.size(), degree.size());
    for (size_t i = 0; i < degree.size(); ++i) {
      using T = std::decay_t<decltype(scale[i])>;
      EXPECT_EQ(scale[i], degree[i] == 0 ? T{0} : static_cast<T>(1.0 / std::sqrt(degree[i]))) << i;
    }
  };
  compare(graph.target_scale<double>(add_loops), target_degree);
  compare(graph.target_scale<float>(add_loops), target_degree);
  compare(graph.source_scale<double>(add_loops), source_degree);
  compare(graph.source_scale<float>(add_loops), source_degree);
}

TEST(CsrFromEdges, SortsRowsAndKeepsDuplicates) {
  const Csr graph = Csr::from_edges(4, Ids{3, 0, 3, 2, 0}, Ids{1, 1, 1, 3, 0});
  EXPECT_EQ(edges_of(graph), (Edges{{0, 0}, {1, 0}, {1, 3}, {1, 3}, {3, 2}}));
  EXPECT_EQ(Ids(graph.offsets().begin(), graph.offsets().end()), (Ids{0, 1, 4, 4, 5}));
  EXPECT_TRUE(graph.weights().empty());
}

TEST(CsrFromEdges, CarriesWeightsAlong) {
  const Edges edges = {{1, 3, 0.5F}, {1, 0, -2.0F}, {3, 2, 0.0F}, {0, 0, 4.0F}};
  EXPECT_EQ(edges_of(build(4, 4, edges, true)), sorted(edges));
}

TEST(CsrFromEdges, EqualsASortOnAnyNumberOfThreads) {
  // Over 65536 edges the sort runs in parallel; few nodes make long rows, many make empty ones.
  for (const int64_t nodes : {3, 500, 100'000}) {
    const Edges edges = random_edges(nodes, nodes, 150'000, 5);
    const Edges want = sorted(edges);
    for (const int threads : {1, 2, 3, 8}) {
      const ThreadCount scope(threads);
      EXPECT_EQ(edges_of(build(nodes, nodes, edges, true)), want) << nodes << ' ' << threads;
    }
  }
}

TEST(CsrFromEdges, OrderOfEdgesDoesNotMatter) {
  const ThreadCount scope(3);
  Edges edges = random_edges(1000, 700, 100'000, 6);
  const Edges want = edges_of(build(1000, 700, edges, true));
  std::reverse(edges.begin(), edges.end());
  EXPECT_EQ(edges_of(build(1000, 700, edges, true)), want);
  std::shuffle(edges.begin(), edges.end(), Rng(1));
  EXPECT_EQ(edges_of(build(1000, 700, edges, true)), want);
}

TEST(CsrFromEdges, OrderOfDuplicatesWithOtherWeightsDoesNotMatter) {
  const Edges edges = {{0, 1, 1.0F}, {0, 1, 2.0F}, {0, 1, 3.0F}};
  const Edges backwards(edges.rbegin(), edges.rend());
  EXPECT_EQ(edges_of(build(2, 2, edges, true)), edges_of(build(2, 2, backwards, true)));
}

TEST(CsrFromEdges, RowRangesCoverAllRowsAndDoNotDependOnThreads) {
  const Edges edges = random_edges(5000, 5000, 200'000, 7);
  std::set<Ids> seen;
  for (const int threads : {1, 2, 8}) {
    const ThreadCount scope(threads);
    const Csr graph = build(5000, 5000, edges, false);
    Ids bounds = {0};
    for (const RowRange range : graph.row_ranges()) {
      EXPECT_EQ(range.begin, bounds.back());
      bounds.push_back(range.end);
    }
    EXPECT_EQ(bounds.back(), 5000);
    EXPECT_GT(bounds.size(), 3U);
    seen.insert(bounds);
  }
  EXPECT_EQ(seen.size(), 1U);
}

TEST(CsrFromEdges, NoNodes) {
  for (const Csr& graph : {Csr(), Csr::from_edges(0, {}, {})}) {
    EXPECT_EQ(graph.num_targets(), 0);
    EXPECT_EQ(graph.num_edges(), 0);
    EXPECT_EQ(graph.offsets().size(), 1U);
    EXPECT_FALSE(graph.has_loops());
    EXPECT_EQ(graph.transposed().num_targets(), 0);
    EXPECT_TRUE(graph.target_scale<float>(true).empty());
    EXPECT_TRUE(graph.row_ranges().empty());
  }
}

TEST(CsrFromEdges, NoEdges) {
  const Csr graph = Csr::from_edges(3, {}, {});
  EXPECT_EQ(graph.num_targets(), 3);
  EXPECT_EQ(graph.num_edges(), 0);
  EXPECT_EQ(graph.view().num_edges(), 0);
  expect_inverse_sqrt(graph, false, {0, 0, 0}, {0, 0, 0});
  expect_inverse_sqrt(graph, true, {1, 1, 1}, {1, 1, 1});
}

TEST(CsrFromEdges, Rectangular) {
  const Csr graph = Csr::from_edges(2, 5, Ids{4, 1}, Ids{1, 1});
  EXPECT_FALSE(graph.is_square());
  EXPECT_EQ(edges_of(graph), (Edges{{1, 1}, {1, 4}}));
  EXPECT_EQ(graph.view().num_targets, 2);
  EXPECT_EQ(graph.view().num_sources, 5);
  EXPECT_EQ(graph.view().weights, nullptr);
}

TEST(CsrFromEdges, RangeErrorsNameTheEdgeAndTheBounds) {
  const auto refused = [](const Ids& source, const Ids& target, const std::string& message) {
    expect_error(ErrorKind::kData, {message}, [&] { Csr::from_edges(2, 5, source, target); });
  };
  refused({4, 5}, {1, 1}, "source id of edge 1 must be in [0, 5), got 5");
  refused({4, 4}, {2, 1}, "target id of edge 0 must be in [0, 2), got 2");
  refused({4, 4, -1}, {0, 1, 0}, "source id of edge 2 must be in [0, 5), got -1");
  refused({4}, {-7}, "target id of edge 0 must be in [0, 2), got -7");
  // Ids that would be fine after a cast to 32 bits.
  refused({int64_t{1} << 32}, {0}, "source id of edge 0");
  refused({0}, {-(int64_t{1} << 32)}, "target id of edge 0");
}

TEST(CsrFromEdges, NodesOfAnEmptyGraphDoNotExist) {
  expect_error(ErrorKind::kData, {"edge 0", "[0, 0)"}, [] { Csr::from_edges(0, Ids{0}, Ids{0}); });
}

TEST(CsrFromEdges, FirstBadEdgeIsNamedOnAnyNumberOfThreads) {
  Ids source(300'000, 0);
  const Ids target(300'000, 0);
  for (const int64_t bad : {299'999, 200'000, 70'001, 70'002}) source[bad] = 9;
  for (const int threads : {1, 2, 8}) {
    const ThreadCount scope(threads);
    expect_error(ErrorKind::kData, {"edge 70001 "}, [&] { Csr::from_edges(9, source, target); });
  }
}

TEST(CsrFromEdges, FirstBadEdgeIsNamedAmongSourcesAndTargets) {
  expect_error(ErrorKind::kData, {"edge 0 "}, [] { Csr::from_edges(2, Ids{5, 0}, Ids{0, 5}); });
  expect_error(ErrorKind::kData, {"edge 0 "}, [] { Csr::from_edges(2, Ids{0, 5}, Ids{5, 0}); });
}

TEST(CsrFromEdges, SizesAreChecked) {
  for (const int64_t bad : {int64_t{-1}, kTooMany, std::numeric_limits<int64_t>::max(),
                            std::numeric_limits<int64_t>::min()}) {
    const std::string fact = std::to_string(bad);
    expect_error(ErrorKind::kData, {"2147483647", fact}, [=] { Csr::from_edges(bad, 1, {}, {}); });
    expect_error(ErrorKind::kData, {"2147483647", fact}, [=] { Csr::from_edges(1, bad, {}, {}); });
  }
}

TEST(CsrFromEdges, LengthsMustMatch) {
  expect_error(ErrorKind::kData, {"got 2 and 1"}, [] { Csr::from_edges(3, Ids{0, 1}, Ids{0}); });
  expect_error(ErrorKind::kData, {"2 edges", "got 1"}, [] {
    Csr::from_edges(3, Ids{0, 1}, Ids{0, 1}, std::vector<float>{1.0F});
  });
  expect_error(ErrorKind::kData, {"0 edges", "got 1"},
               [] { Csr::from_edges(3, {}, {}, std::vector<float>{1.0F}); });
}

TEST(CsrFromEdges, WeightsMustBeFinite) {
  for (const float bad : {kNan, kInfinity, -kInfinity})
    expect_error(ErrorKind::kData, {"finite", fmt::format("{}", bad)}, [=] {
      build(2, 2, {{0, 1, 1.0F}, {1, 0, bad}}, true);
    });
}

// What is wrong with arrays for two targets, three sources and the edges {0, 2, 1}.
void expect_arrays_refused(const std::string& fragment, std::vector<int64_t> offsets,
                           std::vector<int32_t> sources = {0, 2, 1},
                           std::vector<float> weights = {}) {
  expect_error(ErrorKind::kData, {fragment}, [&] { Csr(2, 3, offsets, sources, weights); });
}

TEST(CsrFromArrays, TakesGoodOnes) {
  EXPECT_EQ(edges_of(Csr(2, 3, {0, 2, 3}, {0, 2, 1}, {5.0F, 6.0F, 7.0F})),
            (Edges{{0, 0, 5.0F}, {0, 2, 6.0F}, {1, 1, 7.0F}}));
}

TEST(CsrFromArrays, OffsetsMustRunFromZeroToTheEdges) {
  expect_arrays_refused("offsets", {});
  expect_arrays_refused("offsets", {0, 3});
  expect_arrays_refused("offsets", {0, 1, 2, 3});
  expect_arrays_refused("offsets", {1, 2, 3});
  expect_arrays_refused("offsets", {-1, 2, 3});
  expect_arrays_refused("offsets", {0, 2, 2});
  expect_arrays_refused("offsets", {0, 2, 4});
}

TEST(CsrFromArrays, OffsetsMustRise) {
  expect_arrays_refused("offsets must not decrease", {0, 4, 3});
  expect_arrays_refused("offsets must not decrease", {0, -1, 3});
  expect_arrays_refused("offsets must not decrease", {0, std::numeric_limits<int64_t>::max(), 3});
}

TEST(CsrFromArrays, SourcesMustExist) {
  expect_arrays_refused("edge 1 must be in [0, 3), got 3", {0, 2, 3}, {0, 3, 1});
  expect_arrays_refused("edge 2 must be in [0, 3), got -1", {0, 2, 3}, {0, 2, -1});
}

TEST(CsrFromArrays, WeightsMustFitAndBeFinite) {
  expect_arrays_refused("weights", {0, 2, 3}, {0, 2, 1}, {1.0F, 2.0F});
  expect_arrays_refused("finite", {0, 2, 3}, {0, 2, 1}, {1.0F, kNan, 2.0F});
}

TEST(CsrFromArrays, SizesAreChecked) {
  expect_error(ErrorKind::kData, {"got -1 targets"}, [] { Csr(-1, 3, {}, {}); });
  expect_error(ErrorKind::kData, {std::to_string(kTooMany)}, [] { Csr(kTooMany, 3, {0}, {}); });
}

TEST(CsrTransposed, ListsTheSameEdgesBySource) {
  const Edges edges = random_edges(40, 30, 500, 8);
  const Csr transposed = build(40, 30, edges, true).transposed();
  EXPECT_EQ(transposed.num_targets(), 30);
  EXPECT_EQ(transposed.num_sources(), 40);
  EXPECT_EQ(edges_of(transposed), reversed(edges));
}

TEST(CsrTransposed, TwiceIsTheOriginal) {
  for (const int64_t sources : {300, 500}) {
    const Csr graph = build(300, sources, random_edges(300, sources, 100'000, 9), true);
    EXPECT_EQ(edges_of(graph.transposed().transposed()), edges_of(graph));
  }
}

TEST(CsrTransposed, SymmetricGraphIsItsOwn) {
  const Csr path = Csr::from_edges(3, Ids{0, 1, 1, 2}, Ids{1, 0, 2, 1});
  EXPECT_EQ(&path.transposed(), &path);
  const Csr weighted = build(2, 2, {{0, 1, 2.0F}, {1, 0, 2.0F}}, true);
  EXPECT_EQ(&weighted.transposed(), &weighted);
}

TEST(CsrTransposed, OtherWeightsOfTheInverseAreNotSymmetric) {
  const Csr graph = build(2, 2, {{0, 1, 2.0F}, {1, 0, 3.0F}}, true);
  EXPECT_EQ(edges_of(graph.transposed()), (Edges{{0, 1, 3.0F}, {1, 0, 2.0F}}));
}

TEST(CsrTransposed, EmptyRectangularGraphIsNotItsOwn) {
  const Csr graph = Csr::from_edges(2, 3, {}, {});
  EXPECT_EQ(graph.transposed().num_targets(), 3);
  EXPECT_EQ(graph.transposed().num_sources(), 2);
}

TEST(CsrTransposed, IsMadeOnceForAllCopiesAndThreads) {
  const ThreadCount scope(4);
  const Csr graph = build(100, 100, random_edges(100, 100, 1000, 10), false);
  std::vector<const Csr*> seen(16);
  parallel_tasks(16, [&, copy = graph](int64_t task) { seen[task] = &copy.transposed(); });
  EXPECT_EQ(std::set<const Csr*>(seen.begin(), seen.end()),
            std::set<const Csr*>{&graph.transposed()});
}

TEST(CsrLoops, AreFoundInSquareGraphsOnly) {
  EXPECT_TRUE(graph_with_loops(false).has_loops());
  EXPECT_TRUE(Csr::from_edges(1, Ids{0}, Ids{0}).has_loops());
  EXPECT_FALSE(Csr::from_edges(2, Ids{0, 1}, Ids{1, 0}).has_loops());
  EXPECT_FALSE(Csr::from_edges(2, 3, Ids{0}, Ids{0}).has_loops());
}

TEST(CsrLoops, LoneLoopInALargeGraphIsFound) {
  const ThreadCount scope(3);
  Edges edges = random_edges(5000, 5000, 100'000, 11);
  std::erase_if(edges, [](const Edge& e) { return e.source == e.target; });
  EXPECT_FALSE(build(5000, 5000, edges, false).has_loops());
  edges.push_back({4321, 4321});
  EXPECT_TRUE(build(5000, 5000, edges, false).has_loops());
}

TEST(CsrScale, CountsInEdges) {
  expect_inverse_sqrt(graph_with_loops(false), false, {0, 4, 1}, {0, 4, 1});
}

TEST(CsrScale, AddedLoopReplacesTheExplicitOnes) {
  expect_inverse_sqrt(graph_with_loops(false), true, {1, 3, 2}, {1, 3, 2});
}

TEST(CsrScale, AddsWeights) {
  expect_inverse_sqrt(graph_with_loops(true), false, {0, 26, 3}, {0, 26, 3});
}

TEST(CsrScale, AddedLoopWeighsOne) {
  expect_inverse_sqrt(graph_with_loops(true), true, {1, 3, 4}, {1, 3, 4});
}

TEST(CsrScale, DegreesThatAreNotPositiveGiveZero) {
  const Csr graph = build(3, 3, {{0, 1, -4.0F}, {1, 0, 2.0F}, {1, 2, -2.0F}}, true);
  expect_inverse_sqrt(graph, false, {0, 0, 0}, {0, 0, 0});
  expect_inverse_sqrt(graph, true, {0, 1, 1}, {0, 1, 1});
}

TEST(CsrScale, RectangularTakesTheOutEdgesOfASource) {
  const Edges edges = {{0, 0, 0.5F}, {0, 1, 2.0F}, {1, 0, 3.5F}};
  expect_inverse_sqrt(build(2, 3, edges, false), false, {2, 1}, {2, 1, 0});
  expect_inverse_sqrt(build(2, 3, edges, true), false, {2.5, 3.5}, {4, 2, 0});
}

TEST(CsrScale, SoDoesOneOfAsManyOtherNodes) {
  const Csr graph = Csr::from_edges(2, 2, Ids{0, 0, 1}, Ids{0, 1, 1});
  EXPECT_FALSE(graph.is_square());
  EXPECT_FALSE(graph.has_loops());
  expect_inverse_sqrt(graph, false, {1, 2}, {2, 1});
  EXPECT_FALSE(graph.transposed().is_square());
  expect_inverse_sqrt(graph.transposed(), false, {2, 1}, {1, 2});
  expect_error(ErrorKind::kUsage, {"other sources"}, [&] { graph.target_scale<float>(true); });
  expect_inverse_sqrt(Csr::from_edges(2, Ids{0, 0, 1}, Ids{0, 1, 1}), false, {1, 2}, {1, 2});
}

TEST(CsrScale, RectangularCannotHaveLoops) {
  const Csr graph = Csr::from_edges(2, 3, Ids{0}, Ids{1});
  for (int twice = 0; twice < 2; ++twice)  // a failed computation must not pass for a finished one
    expect_error(ErrorKind::kUsage, {"2 targets and 3 other sources"},
                 [&] { graph.target_scale<float>(true); });
}

TEST(CsrScale, BothModesLiveSideBySide) {
  const Csr graph = graph_with_loops(false);
  const std::vector<float>& without = graph.target_scale<float>(false);
  const std::vector<float>& with = graph.target_scale<float>(true);
  EXPECT_NE(without, with);
  EXPECT_EQ(&without, &graph.target_scale<float>(false));
}

}  // namespace
}  // namespace egc
