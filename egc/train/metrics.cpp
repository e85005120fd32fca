#include "egc/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "egc/core/error.h"

namespace egc::train {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

void check_sizes(size_t predicted, size_t labels) {
  check(predicted == labels, "metric: expected as many predictions as labels, got {} and {}",
        predicted, labels);
}

// A run of equal scores, from the highest on.
struct Step {
  double positives = 0;
  double negatives = 0;
};

std::vector<Step> steps_by_score(std::span<const double> score, std::span<const double> label) {
  check_sizes(score.size(), label.size());
  std::vector<size_t> order;
  for (size_t k = 0; k < label.size(); ++k) {
    if (std::isnan(label[k])) continue;
    check(label[k] == 0 || label[k] == 1, "metric: a label must be 0 or 1, got {}", label[k]);
    check(!std::isnan(score[k]), "metric: the score of item {} is not a number", k);
    order.push_back(k);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return score[a] > score[b]; });
  std::vector<Step> out;
  for (size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || score[order[k]] != score[order[k - 1]]) out.emplace_back();
    (label[order[k]] == 1 ? out.back().positives : out.back().negatives) += 1;
  }
  return out;
}

Step total(const std::vector<Step>& steps) {
  Step sum;
  for (const Step& s : steps) {
    sum.positives += s.positives;
    sum.negatives += s.negatives;
  }
  return sum;
}

}  // namespace

double mean_absolute_error(std::span<const float> predicted, std::span<const float> label) {
  check_sizes(predicted.size(), label.size());
  double sum = 0;
  int64_t count = 0;
  for (size_t k = 0; k < label.size(); ++k) {
    if (std::isnan(label[k])) continue;
    sum += std::abs(double{predicted[k]} - label[k]);
    ++count;
  }
  return count == 0 ? kUndefined : sum / static_cast<double>(count);
}

double accuracy(std::span<const int64_t> predicted, std::span<const int64_t> label) {
  check_sizes(predicted.size(), label.size());
  int64_t right = 0;
  int64_t count = 0;
  for (size_t k = 0; k < label.size(); ++k) {
    if (label[k] < 0) continue;
    right += predicted[k] == label[k] ? 1 : 0;
    ++count;
  }
  return count == 0 ? kUndefined : static_cast<double>(right) / static_cast<double>(count);
}

double weighted_accuracy(std::span<const int64_t> predicted, std::span<const int64_t> label,
                         int64_t num_classes) {
  check_sizes(predicted.size(), label.size());
  std::vector<int64_t> right(static_cast<size_t>(num_classes), 0);
  std::vector<int64_t> count(static_cast<size_t>(num_classes), 0);
  for (size_t k = 0; k < label.size(); ++k) {
    if (label[k] < 0) continue;
    check(label[k] < num_classes, "metric: a class must be below {}, got {}", num_classes,
          label[k]);
    right[label[k]] += predicted[k] == label[k] ? 1 : 0;
    ++count[label[k]];
  }
  double sum = 0;
  int64_t there = 0;
  for (int64_t c = 0; c < num_classes; ++c)
    if (count[c] > 0) {
      sum += static_cast<double>(right[c]) / static_cast<double>(count[c]);
      ++there;
    }
  return there == 0 ? kUndefined : sum / static_cast<double>(there);
}

double roc_auc(std::span<const double> score, std::span<const double> label) {
  const std::vector<Step> steps = steps_by_score(score, label);
  const Step all = total(steps);
  if (all.positives == 0 || all.negatives == 0) return kUndefined;
  double won = 0;  // pairs of a positive above a negative; ties count half
  double positives = 0;
  for (const Step& s : steps) {
    won += s.negatives * (positives + s.positives / 2);
    positives += s.positives;
  }
  return won / (all.positives * all.negatives);
}

std::vector<double> roc_curve(std::vector<float> positives, std::vector<float> negatives,
                              int64_t points) {
  // The largest first.
  for (auto* scores : {&positives, &negatives}) {
    std::sort(scores->begin(), scores->end());
    std::reverse(scores->begin(), scores->end());
  }
  const int64_t all = std::ssize(negatives);
  std::vector<double> out(static_cast<size_t>(points));
  size_t p = 0;
  size_t n = 0;
  while (p < positives.size() || n < negatives.size()) {
    const size_t p0 = p;
    const size_t n0 = n;
    const float threshold = p == positives.size()   ? negatives[n]
                            : n == negatives.size() ? positives[p]
                                                    : std::max(positives[p], negatives[n]);
    while (p < positives.size() && positives[p] >= threshold) ++p;
    while (n < negatives.size() && negatives[n] >= threshold) ++n;
    const auto from = static_cast<int64_t>(n0);
    const auto to = static_cast<int64_t>(n);
    for (int64_t k = (from * (points - 1) + all - 1) / all; k * all <= to * (points - 1); ++k) {
      const double at = static_cast<double>(k * all) / static_cast<double>(points - 1);
      const double share =
          n > n0 ? (at - static_cast<double>(n0)) / static_cast<double>(n - n0) : 1;
      out[static_cast<size_t>(k)] =
          (static_cast<double>(p0) + share * static_cast<double>(p - p0)) /
          static_cast<double>(positives.size());
    }
  }
  return out;
}

double roc_auc_of_columns(std::span<const float> score, std::span<const float> label,
                          int64_t columns) {
  check_sizes(score.size(), label.size());
  double sum = 0;
  int64_t defined = 0;
  for (int64_t column = 0; column < columns; ++column) {
    std::vector<double> scores;
    std::vector<double> labels;
    for (size_t k = static_cast<size_t>(column); k < label.size();
         k += static_cast<size_t>(columns)) {
      scores.push_back(score[k]);
      labels.push_back(label[k]);
    }
    if (const double area = roc_auc(scores, labels); !std::isnan(area)) {
      sum += area;
      ++defined;
    }
  }
  return defined == 0 ? kUndefined : sum / static_cast<double>(defined);
}

double average_precision(std::span<const double> score, std::span<const double> label) {
  const std::vector<Step> steps = steps_by_score(score, label);
  const Step all = total(steps);
  if (all.positives == 0) return kUndefined;
  double sum = 0;
  Step above;
  for (const Step& s : steps) {
    above.positives += s.positives;
    above.negatives += s.negatives;
    sum += s.positives / all.positives * above.positives / (above.positives + above.negatives);
  }
  return sum;
}

double subtoken_f1(std::span<const int64_t> predicted,
                   const std::vector<std::vector<int64_t>>& words, int64_t length, int64_t end) {
  check_sizes(predicted.size(), words.size() * static_cast<size_t>(length));
  double sum = 0;
  for (size_t k = 0; k < words.size(); ++k) {
    std::set<int64_t> guess;
    for (int64_t p = 0; p < length; ++p) {
      const int64_t word = predicted[k * static_cast<size_t>(length) + static_cast<size_t>(p)];
      if (word == end) break;
      guess.insert(word);
    }
    const std::set<int64_t> truth(words[k].begin(), words[k].end());
    int64_t both = 0;
    for (const int64_t word : guess) both += truth.contains(word) ? 1 : 0;
    const double precision =
        guess.empty() ? 0 : static_cast<double>(both) / static_cast<double>(guess.size());
    const double recall =
        truth.empty() ? 0 : static_cast<double>(both) / static_cast<double>(truth.size());
    if (precision + recall > 0) sum += 2 * precision * recall / (precision + recall);
  }
  return words.empty() ? kUndefined : sum / static_cast<double>(words.size());
}

}  // namespace egc::train
