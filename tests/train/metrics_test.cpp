// Metrics against scikit-learn's and against counting by hand.
#include "egc/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "egc/core/error.h"
#include "egc/core/rng.h"
#include "egc/core/safetensors.h"

namespace egc::train {
namespace {

constexpr double kUnlabelled = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> values(const TensorView& t) {
  std::vector<T> out(static_cast<size_t>(t.numel()));
  std::memcpy(out.data(), t.data.data(), t.data.size());
  return out;
}

TEST(GoldenMetrics, LikeScikitLearn) {
  const SafetensorsFile file(EGC_SOURCE_DIR "/tests/golden/evaluators.safetensors");
  for (int k = 0; k < 4; ++k) {
    const std::string name = "rocauc" + std::to_string(k) + ".";
    const auto score = values<double>(file.at(name + "score"));
    std::vector<double> label;
    for (const int64_t l : values<int64_t>(file.at(name + "label")))
      label.push_back(static_cast<double>(l));
    EXPECT_NEAR(roc_auc(score, label), values<double>(file.at(name + "rocauc"))[0], 1e-12);
    EXPECT_NEAR(average_precision(score, label), values<double>(file.at(name + "ap"))[0], 1e-12);
  }
}

// Its area is the score that is reported, ties or not, up to the width of a step.
TEST(Metrics, TheRocCurvesAreaIsRocAuc) {
  EXPECT_EQ(roc_curve({3, 1}, {2, 0}, 5), (std::vector<double>{0.5, 0.5, 1, 1, 1}));
  EXPECT_EQ(roc_curve({1}, {1}, 3), (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(roc_curve({2}, {1}, 2), (std::vector<double>{1, 1}));
  Rng rng(7);
  for (const uint32_t values : {5U, 1000U}) {
    std::vector<float> positives;
    std::vector<float> negatives;
    std::vector<double> score;
    std::vector<double> label;
    for (int k = 0; k < 400; ++k) {
      const bool positive = k % 3 == 0;
      const uint32_t x = rng.below(values) + (positive ? values / 5 : 0);
      (positive ? positives : negatives).push_back(static_cast<float>(x));
      score.push_back(x);
      label.push_back(positive ? 1 : 0);
    }
    const std::vector<double> curve = roc_curve(positives, negatives, 2001);
    double area = 0;
    for (size_t k = 0; k + 1 < curve.size(); ++k) area += (curve[k] + curve[k + 1]) / 2 / 2000;
    EXPECT_NEAR(area, roc_auc(score, label), 2e-3);
  }
}

TEST(Metrics, RocAucIsTheShareOfPairsInOrder) {
  Rng rng(5);
  std::vector<double> score;
  std::vector<double> label;
  for (int k = 0; k < 300; ++k) {
    score.push_back(static_cast<double>(rng.below(20)));
    label.push_back(rng.below(7) == 0 ? kUnlabelled : static_cast<double>(rng.below(2)));
  }
  double won = 0;
  double pairs = 0;
  for (size_t a = 0; a < score.size(); ++a)
    for (size_t b = 0; b < score.size(); ++b)
      if (label[a] == 1 && label[b] == 0) {
        pairs += 1;
        won += score[a] > score[b] ? 1 : score[a] == score[b] ? 0.5 : 0;
      }
  EXPECT_NEAR(roc_auc(score, label), won / pairs, 1e-14);
}

TEST(Metrics, RocAucNeedsBothLabels) {
  const std::vector<double> score = {1, 2};
  EXPECT_TRUE(std::isnan(roc_auc(score, std::vector<double>{1, 1})));
  EXPECT_TRUE(std::isnan(roc_auc(score, std::vector<double>{0, kUnlabelled})));
  EXPECT_THROW(roc_auc(score, std::vector<double>{0, 2}), Error);
  EXPECT_THROW(roc_auc(std::vector<double>{kUnlabelled, 1}, std::vector<double>{0, 1}), Error);
  EXPECT_THROW(roc_auc(score, std::vector<double>{1}), Error);
}

TEST(Metrics, RocAucOfColumnsLeavesOutTheUndefined) {
  const auto none = static_cast<float>(kUnlabelled);
  const std::vector<float> score = {1, 5, 2, 4, 3, 3};
  const std::vector<float> label = {0, 1,    1,
                                    1, none, none};  // the second column has one label only
  EXPECT_EQ(roc_auc_of_columns(score, label, 2), 1);
  EXPECT_TRUE(std::isnan(roc_auc_of_columns(score, std::vector<float>(6, none), 2)));
}

TEST(Metrics, MeanAbsoluteError) {
  const auto none = static_cast<float>(kUnlabelled);
  EXPECT_EQ(mean_absolute_error(std::vector<float>{1, 2, 9}, std::vector<float>{2, 4, none}), 1.5);
  EXPECT_TRUE(std::isnan(mean_absolute_error({}, {})));
}

TEST(Metrics, Accuracies) {
  const std::vector<int64_t> label = {0, 0, 0, 1, -1, 1};
  const std::vector<int64_t> predicted = {0, 0, 0, 1, 2, 0};
  EXPECT_EQ(accuracy(predicted, label), 4 / 5.0);
  EXPECT_EQ(weighted_accuracy(predicted, label, 3), (1 + 0.5) / 2);  // the third class is not there
  EXPECT_TRUE(std::isnan(accuracy(std::vector<int64_t>{1}, std::vector<int64_t>{-1})));
  EXPECT_THROW(weighted_accuracy(predicted, label, 1), Error);
}

TEST(Metrics, SubtokenF1ComparesSetsUpToTheEnd) {
  constexpr int64_t kEnd = 9;
  // Two of three right and nothing else; a repeated word counts once; nothing guessed.
  const std::vector<int64_t> predicted = {1, 2, kEnd, 3, 5, 5, 6, kEnd, kEnd, 1, 2, 3};
  const std::vector<std::vector<int64_t>> words = {{1, 2, 3}, {5, 7}, {4}};
  const double first = 2 * 1 * (2 / 3.0) / (1 + 2 / 3.0);
  const double second = 0.5;
  EXPECT_NEAR(subtoken_f1(predicted, words, 4, kEnd), (first + second + 0) / 3, 1e-15);
  EXPECT_TRUE(std::isnan(subtoken_f1({}, {}, 4, kEnd)));
}

}  // namespace
}  // namespace egc::train
