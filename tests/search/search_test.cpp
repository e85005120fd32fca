// Spaces, halving, subsets.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "egc/search/halving.h"
#include "egc/search/ranks.h"
#include "egc/search/space.h"
#include "tests/core/expect_error.h"

namespace egc {
namespace {

using Json = nlohmann::ordered_json;
using search::Space;
using testing::expect_error;

TEST(RankCorrelation, KnowsOrderAlone) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  using Values = std::vector<double>;
  const auto of = [](const Values& a, const Values& b) { return search::rank_correlation(a, b); };
  EXPECT_NEAR(of({1, 10, 1000}, {-3, 0, 0.5}), 1, 1e-12);
  EXPECT_NEAR(of({1, 2, 3, 4}, {9, 5, 1, 0}), -1, 1e-12);
  EXPECT_NEAR(of({1, 2, 3, 4, 5}, {5, 6, 7, 8, 7}), 0.82078268, 1e-8);  // with ties, as scipy
  EXPECT_NEAR(of({1, kNone, 2, 3}, {1, -5, 2, 3}), 1, 1e-12);
  EXPECT_TRUE(std::isnan(of({1, 2}, {1, 2})));
  EXPECT_TRUE(std::isnan(of({1, 1, 1}, {1, 2, 3})));
}

TEST(Space, SamplesStayInsideAndReachEverything) {
  const Space space = Space::parse(
      R"({"train.lr": {"log": [1e-4, 1e-2]}, "train.wd": {"uniform": [0, 0.5]},
          "model.layers": {"whole": [2, 4]}, "train.batch": [32, 64]})",
      "space");
  Rng rng(1);
  std::set<int64_t> layers;
  std::set<int64_t> batches;
  int small_lr = 0;
  constexpr int kCount = 400;
  for (int k = 0; k < kCount; ++k) {
    const Json p = space.sample(rng);
    const double lr = p["train"]["lr"];
    EXPECT_TRUE(lr >= 0.99e-4 && lr <= 1.01e-2) << lr;
    small_lr += lr < 1e-3 ? 1 : 0;
    EXPECT_TRUE(p["train"]["wd"] >= 0.0 && p["train"]["wd"] <= 0.5);
    EXPECT_TRUE(p["model"]["layers"].is_number_integer());
    layers.insert(p["model"]["layers"].get<int64_t>());
    batches.insert(p["train"]["batch"].get<int64_t>());
  }
  EXPECT_EQ(layers, (std::set<int64_t>{2, 3, 4}));
  EXPECT_EQ(batches, (std::set<int64_t>{32, 64}));
  EXPECT_NEAR(small_lr, kCount / 2, 60);  // half of the decades
  Rng again(1);
  Rng other(2);
  EXPECT_EQ(space.sample(again)["train"]["lr"], [&] {
    Rng r(1);
    return space.sample(r);
  }()["train"]["lr"]);
  EXPECT_NE(space.sample(other), space.sample(again));
}

TEST(Space, AGridHasEveryCombination) {
  const Space space = Space::parse(
      R"({"train.lr": {"log": [0.01, 1], "steps": 3}, "train.batch": [32, 64]})", "space");
  const auto grid = space.grid();
  ASSERT_EQ(grid.size(), 6U);
  EXPECT_NEAR(grid[0]["train"]["lr"].get<double>(), 0.01, 1e-12);
  EXPECT_EQ(grid[0]["train"]["batch"], 32);
  EXPECT_EQ(grid[1]["train"]["batch"], 64);
  EXPECT_NEAR(grid[2]["train"]["lr"].get<double>(), 0.1, 1e-12);
  EXPECT_NEAR(grid[5]["train"]["lr"].get<double>(), 1, 1e-12);
  EXPECT_EQ(
      Space::parse(R"({"model.layers": {"whole": [2, 4], "steps": 9}})", "space").grid().size(),
      3U);  // each once
  expect_error(ErrorKind::kUsage, {"train.lr", "steps"},
               [] { Space::parse(R"({"train.lr": {"log": [0.01, 1]}})", "space").grid(); });
  expect_error(ErrorKind::kUsage, {"more than"}, [] {
    Space::parse(R"({"train.lr": {"log": [0.01, 1], "steps": 1000000}})", "space").grid();
  });
}

TEST(Space, SaysWhatIsWrong) {
  for (const char* bad :
       {"[]", "{}", R"({"lr": [1]})", R"({"train.lr": []})", R"({"train.lr": 3})",
        R"({"train.lr": {"log": [0, 1]}})", R"({"train.lr": {"log": [2, 1]}})",
        R"({"train.lr": {"log": [1]}})", R"({"train.lr": {"guess": [1, 2]}})",
        R"({"train.lr": {"steps": 2}})", R"({"train.lr": {"log": [1, 2], "uniform": [1, 2]}})",
        R"({"train.lr": {"log": [1, 2], "steps": 0}})",
        R"({"model.layers": {"whole": [2.3, 2.7]}})", R"({"model.layers": {"whole": [0, 1e300]}})",
        R"({"train.lr": {"log": ["a", 2]}})"})
    expect_error(ErrorKind::kUsage, {"mine"}, [&] { Space::parse(bad, "mine"); });
}

TEST(Halving, FewerTrialsTrainLonger) {
  const auto rungs = search::halving_rungs(35, 5, 200, 3);
  ASSERT_EQ(rungs.size(), 5U);
  const std::pair<int64_t, size_t> expected[] = {{5, 35}, {15, 11}, {45, 3}, {135, 1}, {200, 1}};
  for (size_t k = 0; k < rungs.size(); ++k) {
    EXPECT_EQ(rungs[k].epochs, expected[k].first);
    EXPECT_EQ(rungs[k].trials, expected[k].second);
    EXPECT_EQ(rungs[k].is_whole, k + 1 == rungs.size());
  }
  const auto one = search::halving_rungs(4, 50, 20, 3);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].epochs, 20);
  EXPECT_TRUE(one[0].is_whole);
  expect_error(ErrorKind::kUsage, {"factor"}, [] { search::halving_rungs(4, 1, 20, 1); });
}

TEST(Halving, TheBestGoOn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> scores = {nan, 0.5, 0.2, 0.5, 0.9};
  EXPECT_EQ(search::best_of(scores, 2, true), (std::vector<size_t>{2, 1}));
  EXPECT_EQ(search::best_of(scores, 9, false), (std::vector<size_t>{4, 1, 3, 2, 0}));
}

TEST(Subsets, AreAllThereOnce) {
  EXPECT_EQ(search::subsets({"a", "b", "c", "d", "e", "f", "g"}, 3).size(), 35U);
  EXPECT_EQ(search::subsets({"a", "b", "c"}, 2),
            (std::vector<std::vector<std::string>>{{"a", "b"}, {"a", "c"}, {"b", "c"}}));
  EXPECT_TRUE(search::subsets({"a"}, 2).empty());
}

using Names = std::vector<std::string>;
const Names kSeven = {"a", "b", "c", "d", "e", "f", "g"};

// Pairs of which the worse stands first.
int inversions(const std::vector<size_t>& order, const std::vector<double>& merit) {
  int out = 0;
  for (size_t k = 0; k < order.size(); ++k)
    for (size_t l = k + 1; l < order.size(); ++l) out += merit[order[k]] < merit[order[l]] ? 1 : 0;
  return out;
}

TEST(SharedOrder, TakesChanceOutOfARanking) {
  const auto sets = search::subsets(kSeven, 3);
  std::vector<double> merit;
  for (const Names& set : sets) {
    double sum = 0;
    for (const std::string& member : set) sum += member[0] - 'a';
    merit.push_back(sum);
  }
  Rng rng(3);
  int alone = 0;
  int together = 0;
  for (int times = 0; times < 20; ++times) {
    std::vector<double> seen = merit;
    for (double& score : seen) score += 12 * rng.uniform();
    const auto shared = search::shared_order(sets, seen, false);
    EXPECT_EQ(std::set<size_t>(shared.begin(), shared.end()).size(), sets.size());
    alone += inversions(search::best_of(seen, seen.size(), false), merit);
    together += inversions(shared, merit);
  }
  EXPECT_LT(together, 0.75 * alone) << alone;
}

TEST(SharedOrder, OneLuckySetDoesNotLead) {
  const auto sets = search::subsets(kSeven, 3);
  std::vector<double> errors;  // e, f, g best by chance; else what begins the alphabet is good
  for (size_t s = 0; s < sets.size(); ++s) errors.push_back(static_cast<double>(s));
  errors.back() = -1;
  const auto shared = search::shared_order(sets, errors, true);
  EXPECT_EQ(sets[shared.front()], (Names{"a", "b", "c"}));
  EXPECT_NE(shared.back(), sets.size() - 1);  // its own place counts too
}

TEST(SharedOrder, WithoutAScoreASetIsLastWhateverItsMembers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto sets = search::subsets(kSeven, 3);
  std::vector<double> errors(sets.size(), nan);
  errors.back() = 3;
  EXPECT_EQ(search::shared_order(sets, errors, true).front(), sets.size() - 1);
  // Nor does it matter for their members in which order those sets were written down: of two sets
  // with scores, a, b, c (the first) has no advantage over e, f, g (the last).
  errors.front() = 4;
  EXPECT_EQ(search::shared_order(sets, errors, true)[0], sets.size() - 1);
}

TEST(SharedOrder, KeepsWhatNothingContradicts) {
  const std::vector<double> scores = {0.5, 0.1, 0.9};
  const std::vector<size_t> order = {2, 0, 1};
  EXPECT_EQ(search::shared_order(search::subsets({"a", "b", "c"}, 1), scores, false), order);
  EXPECT_EQ(search::shared_order(search::subsets({"a", "b", "c"}, 2), scores, false), order);
  EXPECT_EQ(search::shared_order(search::subsets({"a", "b"}, 2), {0.5}, false).size(), 1U);
  EXPECT_TRUE(search::shared_order({}, {}, false).empty());
}

}  // namespace
}  // namespace egc
