#include "egc/train/loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "egc/core/error.h"
#include "egc/core/parallel.h"
#include "egc/core/work_clock.h"
#include "egc/graph/row_split.h"
#include "egc/ops/cross_entropy.h"

namespace egc::train {
namespace {

bool has_values(Task task) { return task == Task::kGraphRegression || task == Task::kGraphBinary; }

// A term of the loss and its derivative.
struct Term {
  double value = 0;
  double slope = 0;
};

Term absolute_error(double output, double target) {
  const double difference = output - target;
  return {std::abs(difference), difference > 0 ? 1.0 : difference < 0 ? -1.0 : 0.0};
}

// Binary cross-entropy of a logit; no exponential overflows.
Term cross_entropy(double output, double target) {
  const double e = std::exp(-std::abs(output));
  const double probability = output >= 0 ? 1 / (1 + e) : e / (1 + e);
  return {std::max(output, 0.0) - output * target + std::log1p(e), probability - target};
}

// The mean over labelled values.
template <class T>
Loss mean_of_values(Term (*term)(double, double), const Tensor& output, const Targets& targets,
                    double count, WantLoss want) {
  check(output.size() == std::ssize(targets.values), "loss: {} targets for an output of {}",
        targets.values.size(), describe(output));
  const double scale = 1 / std::max(1.0, count);
  Loss out;
  if (want == WantLoss::kWithGradient)
    out.gradient = Tensor::empty(output.rows(), output.columns(), output.dtype());
  const T* values = output.data<T>();
  T* gradient = out.gradient.data<T>();
  for (int64_t k = 0; k < output.size(); ++k) {
    const float target = targets.values[static_cast<size_t>(k)];
    const Term t = std::isnan(target) ? Term{} : term(values[k], target);
    out.value += t.value * scale;
    if (gradient != nullptr) gradient[k] = static_cast<T>(t.slope * scale);
  }
  return out;
}

// What an item of each class counts; their sum over all items is 1.
std::vector<double> class_weights(const std::vector<double>& counts, bool balanced,
                                  int64_t classes) {
  if (!balanced)
    return std::vector<double>(static_cast<size_t>(classes), 1 / std::max(1e-12, counts.at(0)));
  check(std::ssize(counts) == classes, "loss: counts of {} classes for {} outputs", counts.size(),
        classes);
  const double total = std::max(1.0, std::accumulate(counts.begin(), counts.end(), 0.0));
  std::vector<double> weights(counts.size(), 0.0);
  double sum = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    // Rarer classes weigh more: the share of the others.
    if (counts[c] > 0) weights[c] = (total - counts[c]) / total;
    sum += weights[c] * counts[c];
  }
  for (double& w : weights) w /= std::max(1e-12, sum);
  return weights;
}

// The negative log-likelihood of the labels. A row of the output has the scores of one item after
// the other, [items, classes] in all; `normalised`: they are log-probabilities already.
template <class T>
Loss negative_log_likelihood(const Tensor& output, const Targets& targets,
                             const std::vector<double>& weights, bool normalised, WantLoss want) {
  const auto items = std::ssize(targets.classes);
  const auto classes = std::ssize(weights);
  check(items * classes == output.size(), "loss: {} targets of {} classes for an output of {}",
        items, classes, describe(output));
  Loss out;
  if (want == WantLoss::kWithGradient)
    out.gradient = Tensor::empty(output.rows(), output.columns(), output.dtype());
  std::vector<double> terms(static_cast<size_t>(items), 0.0);
  const auto row = [&](int64_t i) {
    T* gradient = out.gradient.defined() ? out.gradient.data<T>() + i * classes : nullptr;
    const int64_t label = targets.classes[static_cast<size_t>(i)];
    check(label < classes, "loss: class {} of {}", label, classes);
    if (label >= 0)
      terms[static_cast<size_t>(i)] =
          ops::cross_entropy_row(output.data<T>() + i * classes, classes, label,
                                 weights[static_cast<size_t>(label)], normalised, gradient);
    else if (gradient != nullptr)
      std::fill(gradient, gradient + classes, T{0});
  };
  const WorkTimer timer(Work::kKernels);
  const auto blocks = split_evenly(items, std::max<int64_t>(1, (int64_t{1} << 15) / classes));
  parallel_tasks(std::ssize(blocks), [&](int64_t b) {
    for (int64_t i = blocks[b].begin; i < blocks[b].end; ++i) row(i);
  });
  // In one fixed order: the same bits for any number of threads.
  out.value = std::accumulate(terms.begin(), terms.end(), 0.0);
  return out;
}

}  // namespace

std::vector<double> count_labels(Task task, const Targets& targets, bool balanced,
                                 int64_t num_classes) {
  if (has_values(task))
    return {static_cast<double>(std::count_if(targets.values.begin(), targets.values.end(),
                                              [](float v) { return !std::isnan(v); }))};
  std::vector<double> counts(balanced ? static_cast<size_t>(num_classes) : 1, 0.0);
  for (const int64_t label : targets.classes)
    if (label >= 0) ++counts.at(balanced ? static_cast<size_t>(label) : 0);
  return counts;
}

Loss loss(Task task, const Tensor& output, const Targets& targets, bool balanced,
          const std::vector<double>& counts, WantLoss want) {
  return with_type(output.dtype(), [&](auto zero) -> Loss {
    using T = decltype(zero);
    const auto likelihood = [&](int64_t classes, bool normalised) {
      return negative_log_likelihood<T>(output, targets, class_weights(counts, balanced, classes),
                                        normalised, want);
    };
    switch (task) {
      case Task::kGraphRegression:
        return mean_of_values<T>(absolute_error, output, targets, counts.at(0), want);
      case Task::kGraphBinary:
        return mean_of_values<T>(cross_entropy, output, targets, counts.at(0), want);
      case Task::kGraphSequence:  // the mean over positions, each the mean over graphs
        check(targets.columns >= 1 && output.columns() % targets.columns == 0,
              "loss: {} positions in an output of {}", targets.columns, describe(output));
        return likelihood(output.columns() / targets.columns, false);
      case Task::kGraphClassification:
        return likelihood(output.columns(), false);
      case Task::kNodeClassification:
      case Task::kNodeClassificationHetero:
        return likelihood(output.columns(), true);
    }
    fail(ErrorKind::kUsage, "loss: unknown task");
  });
}

}  // namespace egc::train
