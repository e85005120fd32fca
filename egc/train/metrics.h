// Scores of predictions over a whole split, exact: nothing is averaged over batches. No LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace egc::train {

// Missing labels (NaN, -1) count nothing. A score that has nothing to count is NaN.

// Mean absolute error.
double mean_absolute_error(std::span<const float> predicted, std::span<const float> label);

// The share of right classes.
double accuracy(std::span<const int64_t> predicted, std::span<const int64_t> label);

// The mean over classes that occur of the share that is right within each.
double weighted_accuracy(std::span<const int64_t> predicted, std::span<const int64_t> label,
                         int64_t num_classes);

// Area under the ROC curve; ties count half. NaN where one of the two labels does not occur.
double roc_auc(std::span<const double> score, std::span<const double> label);

// The share of true positives where k of `points` - 1 equal parts of the negatives are taken for
// positives, k from 0 on; between thresholds on the straight line, so ties are shared. Both lists
// have members, of which none is NaN.
std::vector<double> roc_curve(std::vector<float> positives, std::vector<float> negatives,
                              int64_t points);

// Mean over the columns of a [rows, columns] table for which it is defined, as OGB scores.
double roc_auc_of_columns(std::span<const float> score, std::span<const float> label,
                          int64_t columns);

// Area under precision over recall, by steps: the mean precision at each new recall.
double average_precision(std::span<const double> score, std::span<const double> label);

// Code-V2: per graph precision and recall over the sets of predicted and true words, their F1, the
// mean over graphs. Rows are sequences of `length` words; a row ends at the word `end`.
double subtoken_f1(std::span<const int64_t> predicted,
                   const std::vector<std::vector<int64_t>>& words, int64_t length, int64_t end);

}  // namespace egc::train
