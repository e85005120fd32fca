// Losses against their definitions, term after term in double; gradients against central
// differences; what has no label counts nothing.
#include "egc/train/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "egc/core/error.h"
#include "tests/core/expect_error.h"
#include "tests/core/thread_count.h"
#include "tests/tensor/gradcheck.h"
#include "tests/tensor/tensors.h"

namespace egc::train {
namespace {

using testing::close;
using testing::expect_error;
using testing::random_tensor;
using testing::same_bits;
using testing::tensor_of;
using testing::ThreadCount;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of either kind, with their memory.
struct Labels {
  std::vector<float> values;
  std::vector<int64_t> classes;
  int64_t columns = 1;

  Targets targets() const { return {values, classes, columns, nullptr}; }
};

Labels values(std::vector<float> of) { return {.values = std::move(of), .classes = {}}; }
Labels classes(std::vector<int64_t> of) { return {.values = {}, .classes = std::move(of)}; }

Tensor column(const std::vector<double>& x) { return tensor_of(std::ssize(x), 1, x); }

int64_t num_classes(const Tensor& output, const Labels& labels) {
  return output.columns() / labels.columns;
}

Loss loss_of(Task task, const Tensor& output, const Labels& labels, bool balanced = false) {
  const Targets targets = labels.targets();
  return loss(task, output, targets, balanced,
              count_labels(task, targets, balanced, num_classes(output, labels)));
}

// Log-probabilities of rows.
Tensor log_softmax(const Tensor& x) {
  const Tensor out = x.clone();
  for (int64_t i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (int64_t c = 0; c < x.columns(); ++c) sum += std::exp(x.item(i, c));
    for (int64_t c = 0; c < x.columns(); ++c)
      out.data<double>()[i * x.columns() + c] -= std::log(sum);
  }
  return out;
}

// -log of the probability of an item's label; scores: its row.
double surprise(const std::vector<double>& scores, int64_t label, bool normalised) {
  double sum = 0;
  for (const double s : scores) sum += std::exp(s);
  return (normalised ? 0 : std::log(sum)) - scores[static_cast<size_t>(label)];
}

double definition(Task task, const Tensor& output, const Labels& labels, bool balanced) {
  const std::vector<double> x = testing::values_of(output);
  double sum = 0;
  double weights = 0;
  for (size_t k = 0; k < labels.values.size(); ++k) {
    const double y = labels.values[k];
    if (std::isnan(y)) continue;
    const double p = 1 / (1 + std::exp(-x[k]));
    sum += task == Task::kGraphRegression ? std::abs(x[k] - y)
                                          : -(y * std::log(p) + (1 - y) * std::log(1 - p));
    weights += 1;
  }
  const auto count = static_cast<size_t>(num_classes(output, labels));
  double labelled = 0;
  std::vector<double> of_class(count);
  for (const int64_t label : labels.classes)
    if (label >= 0) {
      labelled += 1;
      of_class[static_cast<size_t>(label)] += 1;
    }
  for (size_t i = 0; i < labels.classes.size(); ++i) {
    const int64_t label = labels.classes[i];
    if (label < 0) continue;
    // The share of the other classes.
    const double weight = balanced ? 1 - of_class[static_cast<size_t>(label)] / labelled : 1;
    const bool normalised = task == Task::kNodeClassification;
    sum +=
        weight * surprise({x.begin() + i * count, x.begin() + (i + 1) * count}, label, normalised);
    weights += weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

// One of every task: an output and labels, some of which are missing.
struct Problem {
  std::string name;
  Task task;
  bool balanced;
  Tensor output;
  Labels labels;
};

std::vector<Problem> problems() {
  Rng rng(4);
  std::vector<Problem> out;
  for (const int64_t rows : {1, 2, 7, 40}) {
    constexpr int64_t kColumns = 3;
    constexpr int64_t kLength = 4;
    const auto add = [&](const char* name, Task task, bool balanced, const Tensor& x, Labels y) {
      out.push_back({fmt::format("{} of {}", name, rows), task, balanced, x, std::move(y)});
    };
    const auto draw = [&](uint64_t seed) { return random_tensor(rows, kColumns, seed + rows); };
    const auto missing = [&] { return rng.below(4) == 0; };
    const auto draw_class = [&](uint32_t bound) -> int64_t {
      return missing() ? int64_t{-1} : rng.below(bound);
    };
    std::vector<float> real, binary;
    for (int64_t k = 0; k < rows * kColumns; ++k) {
      real.push_back(missing() ? kNone : 4 * rng.uniform() - 2);
      binary.push_back(missing() ? kNone : static_cast<float>(rng.below(2)));
    }
    add("regression", Task::kGraphRegression, false, draw(1), values(real));
    add("binary", Task::kGraphBinary, false, draw(2), values(binary));
    std::vector<int64_t> label, tokens;
    for (int64_t k = 0; k < rows; ++k) label.push_back(draw_class(rng.below(5) == 0 ? 3 : 2));
    for (int64_t k = 0; k < rows * kLength; ++k) tokens.push_back(draw_class(5));
    for (const bool balanced : {false, true}) {
      add("classes", Task::kGraphClassification, balanced, draw(3), classes(label));
      add("nodes", Task::kNodeClassification, balanced, log_softmax(draw(4)), classes(label));
    }
    Labels words = classes(tokens);
    words.columns = kLength;
    add("words", Task::kGraphSequence, false, random_tensor(rows, kLength * 5, 5), words);
  }
  return out;
}

TEST(Loss, OfEveryTaskIsItsDefinition) {
  for (const Problem& p : problems()) {
    const double want = definition(p.task, p.output, p.labels, p.balanced);
    const Loss wide = loss_of(p.task, p.output, p.labels, p.balanced);
    EXPECT_NEAR(wide.value, want, 1e-12) << p.name << " balanced " << p.balanced;
    const Loss narrow = loss_of(p.task, p.output.to(DType::kF32), p.labels, p.balanced);
    EXPECT_NEAR(narrow.value, want, 1e-6) << p.name << " balanced " << p.balanced;
    EXPECT_TRUE(close(narrow.gradient, wide.gradient, 1e-6)) << p.name;
    EXPECT_EQ(narrow.gradient.dtype(), DType::kF32);
  }
}

TEST(Loss, GradientsAreCentralDifferences) {
  for (const Problem& p : problems()) {
    const Tensor numeric = testing::numeric_gradient(
        p.output, [&] { return loss_of(p.task, p.output, p.labels, p.balanced).value; });
    const Tensor found = loss_of(p.task, p.output, p.labels, p.balanced).gradient;
    EXPECT_TRUE(close(found, numeric, 1e-8)) << p.name << " balanced " << p.balanced;
  }
}

TEST(Loss, RegressionIsTheMeanDistanceOfLabelled) {
  const Task task = Task::kGraphRegression;
  EXPECT_EQ(loss_of(task, column({1, 5, 2}), values({2, kNone, -1})).value, (1 + 3) / 2.0);
  EXPECT_EQ(loss_of(task, column({1}), values({kNone})).value, 0);
  // Where it has no derivative it stays.
  EXPECT_EQ(loss_of(task, column({1}), values({1})).gradient.item(0, 0), 0);
}

TEST(Loss, UnlabelledGivesNoGradient) {
  const Loss some = loss_of(Task::kGraphRegression, column({1, 5}), values({2, kNone}));
  EXPECT_TRUE(same_bits(some.gradient, column({-1, 0})));
  for (Problem p : problems()) {
    for (float& v : p.labels.values) v = kNone;
    for (int64_t& v : p.labels.classes) v = -1;
    const Loss none = loss_of(p.task, p.output, p.labels, p.balanced);
    EXPECT_EQ(none.value, 0) << p.name;
    EXPECT_TRUE(
        close(none.gradient, Tensor::zeros(p.output.rows(), p.output.columns(), DType::kF64), 0))
        << p.name;
  }
}

TEST(Loss, BalancedWeighsByTheShareOfTheOthers) {
  const Tensor output = log_softmax(random_tensor(4, 3, 1));
  const double want = -(0.25 * (output.item(0, 0) + output.item(1, 0) + output.item(2, 0)) +
                        0.75 * output.item(3, 2)) /
                      1.5;
  EXPECT_NEAR(loss_of(Task::kNodeClassification, output, classes({0, 0, 0, 2}), true).value, want,
              1e-15);
  // One class alone has no others.
  EXPECT_EQ(loss_of(Task::kNodeClassification, output, classes({1, 1, 1, 1}), true).value, 0);
}

TEST(Loss, SequencesAreTheMeanOfTheirPositions) {
  const Tensor output = random_tensor(3, 5 * 7, 2);
  Labels labels = classes({0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6, 0});
  labels.columns = 5;
  double want = 0;
  for (int64_t position = 0; position < 5; ++position) {
    std::vector<double> scores;
    std::vector<int64_t> label;
    for (int64_t graph = 0; graph < 3; ++graph) {
      for (int64_t w = 0; w < 7; ++w) scores.push_back(output.item(graph, position * 7 + w));
      label.push_back(labels.classes[static_cast<size_t>(graph * 5 + position)]);
    }
    want += loss_of(Task::kGraphClassification, tensor_of(3, 7, scores), classes(label)).value / 5;
  }
  EXPECT_NEAR(loss_of(Task::kGraphSequence, output, labels).value, want, 1e-14);
}

TEST(Loss, LargeScoresDoNotOverflow) {
  for (const DType type : {DType::kF32, DType::kF64}) {
    const Task binary = Task::kGraphBinary;
    const Loss sure = loss_of(binary, column({1000, -1000}).to(type), values({1, 0}));
    EXPECT_EQ(sure.value, 0);
    EXPECT_TRUE(close(sure.gradient, column({0, 0}), 0));
    const Loss wrong = loss_of(binary, column({1000, -1000}).to(type), values({0, 1}));
    EXPECT_EQ(wrong.value, 1000);
    EXPECT_TRUE(close(wrong.gradient, column({0.5, -0.5}), 0));
    const Tensor scores = tensor_of(2, 3, {1e4, -1e4, 0, -1e6, -1e6, -1e6}, type);
    const Loss of_classes = loss_of(Task::kGraphClassification, scores, classes({1, 0}));
    EXPECT_NEAR(of_classes.value, (2e4 + std::log(3)) / 2, 1e-7);
    EXPECT_TRUE(close(of_classes.gradient,
                      tensor_of(2, 3, {0.5, -0.5, 0, -1 / 3.0, 1 / 6.0, 1 / 6.0}), 1e-7));
  }
}

// The loop ends a run whose loss is no number: it must not be hidden.
TEST(Loss, ANumberThatIsNoneShows) {
  for (const double hostile : {static_cast<double>(kNone), kInfinity, -kInfinity}) {
    for (Problem p : problems()) {
      // Of the first item with a label, the score that counts.
      const bool has_values = !p.labels.values.empty();
      const int64_t count = num_classes(p.output, p.labels);
      size_t k = 0;
      int64_t at = -1;
      if (has_values) {
        while (k < p.labels.values.size() && std::isnan(p.labels.values[k])) ++k;
        if (k < p.labels.values.size()) at = static_cast<int64_t>(k);
      } else {
        while (k < p.labels.classes.size() && p.labels.classes[k] < 0) ++k;
        if (k < p.labels.classes.size()) at = static_cast<int64_t>(k) * count + p.labels.classes[k];
      }
      if (at < 0 || p.balanced) continue;  // a weight may be 0
      p.output.data<double>()[at] = hostile;
      const double value = loss_of(p.task, p.output, p.labels).value;
      const bool right_for_sure = p.task == Task::kGraphBinary &&
                                  hostile == (p.labels.values[k] == 1 ? kInfinity : -kInfinity);
      EXPECT_TRUE(!std::isfinite(value) || right_for_sure) << p.name << " " << hostile;
    }
  }
}

// Rows of an output.
Tensor rows_of(const Tensor& x, int64_t begin, int64_t end) {
  const std::vector<double> all = testing::values_of(x);
  return tensor_of(end - begin, x.columns(),
                   {all.begin() + begin * x.columns(), all.begin() + end * x.columns()});
}

Labels rows_of(const Labels& y, int64_t columns, int64_t begin, int64_t end) {
  Labels out;
  out.columns = y.columns;
  if (!y.values.empty())
    out.values = {y.values.begin() + begin * columns, y.values.begin() + end * columns};
  if (!y.classes.empty())
    out.classes = {y.classes.begin() + begin * y.columns, y.classes.begin() + end * y.columns};
  return out;
}

// Of a batch that three processes share, one of which has nothing of it.
TEST(Loss, SharesOfPartsAddUp) {
  for (const Problem& p : problems()) {
    const int64_t rows = p.output.rows();
    const std::pair<int64_t, int64_t> parts[] = {
        {0, rows / 3}, {rows / 3, rows / 3}, {rows / 3, rows}};
    std::vector<double> counts;
    for (const auto& [begin, end] : parts) {
      const Labels mine = rows_of(p.labels, p.output.columns(), begin, end);
      const std::vector<double> some =
          count_labels(p.task, mine.targets(), p.balanced, num_classes(p.output, p.labels));
      counts.resize(some.size());
      for (size_t k = 0; k < some.size(); ++k) counts[k] += some[k];
    }
    EXPECT_EQ(counts,
              count_labels(p.task, p.labels.targets(), p.balanced, num_classes(p.output, p.labels)))
        << p.name;
    const Loss whole = loss_of(p.task, p.output, p.labels, p.balanced);
    double sum = 0;
    for (const auto& [begin, end] : parts) {
      const Labels mine = rows_of(p.labels, p.output.columns(), begin, end);
      const Loss share =
          loss(p.task, rows_of(p.output, begin, end), mine.targets(), p.balanced, counts);
      sum += share.value;
      EXPECT_TRUE(same_bits(share.gradient, rows_of(whole.gradient, begin, end))) << p.name;
    }
    EXPECT_NEAR(sum, whole.value, 1e-14) << p.name;
  }
}

TEST(Loss, CountsAreOfLabelledItems) {
  const Labels y = classes({0, 2, -1, 2, -1});
  EXPECT_EQ(count_labels(Task::kNodeClassification, y.targets(), false, 4),
            (std::vector<double>{3}));
  EXPECT_EQ(count_labels(Task::kNodeClassification, y.targets(), true, 4),
            (std::vector<double>{1, 0, 2, 0}));
  EXPECT_EQ(count_labels(Task::kGraphBinary, values({1, kNone, 0}).targets(), false, 0),
            (std::vector<double>{2}));
  EXPECT_EQ(count_labels(Task::kGraphClassification, {}, true, 2), (std::vector<double>{0, 0}));
}

// As many items as ogbn-arxiv trains on.
TEST(Loss, IsTheSameForAnyNumberOfThreads) {
  constexpr int64_t kItems = 90941;
  const Tensor output = random_tensor(kItems, 8, 3, DType::kF32);
  Rng rng(5);
  Labels labels;
  for (int64_t k = 0; k < kItems; ++k) labels.classes.push_back(rng.below(8));
  for (const Task task : {Task::kNodeClassification, Task::kGraphClassification}) {
    std::vector<Loss> losses;
    for (const int threads : {1, 2, 4}) {
      const ThreadCount count(threads);
      losses.push_back(loss_of(task, output, labels, /*balanced=*/true));
    }
    for (const Loss& other : losses) {
      EXPECT_EQ(other.value, losses[0].value);
      EXPECT_TRUE(same_bits(other.gradient, losses[0].gradient));
    }
  }
}

TEST(Loss, WhatDoesNotFitIsRefused) {
  const Tensor output = random_tensor(2, 3, 1);
  expect_error(ErrorKind::kUsage, {"class 3 of 3"}, [&] {
    loss_of(Task::kNodeClassification, output, classes({0, 3}));
  });
  expect_error(ErrorKind::kUsage, {"3 targets", "[2, 3] float64"}, [&] {
    loss_of(Task::kGraphClassification, output, classes({0, 1, 2}));
  });
  expect_error(ErrorKind::kUsage, {"5 targets", "[2, 3] float64"}, [&] {
    loss_of(Task::kGraphRegression, output, values({0, 0, 0, 0, 0}));
  });
  expect_error(ErrorKind::kUsage, {"counts of 2 classes for 3"}, [&] {
    loss(Task::kNodeClassification, output, classes({0, 1}).targets(), true, {1, 1});
  });
  Labels words = classes({0, 0, 0, 0});
  words.columns = 2;
  expect_error(ErrorKind::kUsage, {"2 positions", "[2, 3] float64"},
               [&] { loss(Task::kGraphSequence, output, words.targets(), false, {4}); });
}

}  // namespace
}  // namespace egc::train
