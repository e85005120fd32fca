// Losses against their definitions; what has no label counts nothing.
#include "egc/train/loss.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace egc::train {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

at::Tensor row(std::initializer_list<float> values) {
  return at::tensor(std::vector<float>(values)).unsqueeze(1);
}

void expect_near(const at::Tensor& got, double want) {
  EXPECT_NEAR(got.item<double>(), want, 1e-6);
}

TEST(Loss, RegressionIsTheMeanDistanceOfLabelled) {
  expect_near(loss(Task::kGraphRegression, row({1, 5, 2}), row({2, kNone, -1})), (1 + 3) / 2.0);
  expect_near(loss(Task::kGraphRegression, row({1}), row({kNone})), 0);
}

TEST(Loss, UnlabelledGivesNoGradient) {
  const at::Tensor output = row({1, 5}).requires_grad_();
  loss(Task::kGraphRegression, output, row({2, kNone})).backward();
  EXPECT_TRUE(at::equal(output.grad(), row({-1, 0})));
}

TEST(Loss, BinaryIsCrossEntropyOfTheLogits) {
  const double want = (std::log1p(std::exp(-1.0)) + std::log1p(std::exp(-2.0))) / 2;
  expect_near(loss(Task::kGraphBinary, row({1, 9, -2}), row({1, kNone, 0})), want);
}

TEST(Loss, ClassesLikeAten) {
  at::manual_seed(0);
  const at::Tensor output = at::randn({6, 4});
  const at::Tensor target = at::tensor(std::vector<int64_t>{0, 3, -1, 2, 2, -1});
  const at::Tensor want = at::nll_loss(output.log_softmax(1), target, {}, at::Reduction::Mean, -1);
  expect_near(loss(Task::kGraphClassification, output, target), want.item<double>());
  expect_near(loss(Task::kNodeClassification, output.log_softmax(1), target), want.item<double>());
}

TEST(Loss, BalancedWeighsByTheShareOfTheOthers) {
  at::manual_seed(1);
  const at::Tensor output = at::randn({4, 3}).log_softmax(1);
  const at::Tensor target = at::tensor(std::vector<int64_t>{0, 0, 0, 2});
  const at::Tensor weight = at::tensor(std::vector<float>{0.25F, 0.F, 0.75F});
  const at::Tensor want = at::nll_loss(output, target, weight, at::Reduction::Mean, -100);
  expect_near(loss(Task::kNodeClassification, output, target, /*balanced=*/true),
              want.item<double>());
}

// Of a batch that two processes share.
TEST(Loss, SharesOfPartsAddUp) {
  at::manual_seed(3);
  const at::Tensor classes = at::randn({5, 3}).log_softmax(1);
  const at::Tensor target = at::tensor(std::vector<int64_t>{0, 0, -1, 2, 0});
  const at::Tensor values = row({1, 5, 2, 4, 0});
  const at::Tensor truth = row({2, kNone, -1, 4, 7});
  const auto expect_sum = [](Task task, const at::Tensor& x, const at::Tensor& y, bool balanced) {
    at::Tensor counts = at::zeros({}, at::kDouble);
    double sum = 0;
    for (const auto& [begin, end] : {std::pair(0, 3), std::pair(3, 3), std::pair(3, 5)})
      counts =
          counts + count_labels(task, x.slice(0, begin, end), y.slice(0, begin, end), balanced);
    for (const auto& [begin, end] : {std::pair(0, 3), std::pair(3, 3), std::pair(3, 5)})
      sum += loss(task, x.slice(0, begin, end), y.slice(0, begin, end), balanced, counts)
                 .item<double>();
    expect_near(loss(task, x, y, balanced), sum);
  };
  expect_sum(Task::kNodeClassification, classes, target, true);
  expect_sum(Task::kNodeClassification, classes, target, false);
  expect_sum(Task::kGraphClassification, classes, target, false);
  expect_sum(Task::kGraphRegression, values, truth, false);
  expect_sum(Task::kGraphBinary, values, row({1, kNone, 0, 0, 1}), false);
}

TEST(Loss, SequencesAreTheMeanOfTheirPositions) {
  at::manual_seed(2);
  const at::Tensor output = at::randn({3, 5, 7});
  const at::Tensor target = at::randint(0, 7, {3, 5}, at::kLong);
  double want = 0;
  for (int64_t position = 0; position < 5; ++position)
    want += at::nll_loss(output.select(1, position).log_softmax(1), target.select(1, position))
                .item<double>() /
            5;
  expect_near(loss(Task::kGraphSequence, output, target), want);
}

// As many items as ogbn-arxiv trains on: ATen's own sum of them changes with the threads.
TEST(Loss, IsTheSameForAnyNumberOfThreads) {
  at::manual_seed(3);
  const int before = at::get_num_threads();
  const at::Tensor output = at::randn({90941, 8}).log_softmax(1);
  const at::Tensor target = at::randint(0, 8, {90941}, at::kLong);
  std::vector<float> values;
  for (const int threads : {1, 2, 4}) {
    at::set_num_threads(threads);
    values.push_back(
        loss(Task::kNodeClassification, output, target, /*balanced=*/true).item<float>());
  }
  at::set_num_threads(before);
  EXPECT_EQ(values[0], values[1]);
  EXPECT_EQ(values[0], values[2]);
}

}  // namespace
}  // namespace egc::train
