// Loss functions of the tasks.
#pragma once

#include <vector>

#include "egc/core/task.h"
#include "egc/inference/batch_tensors.h"

namespace egc::train {

using inference::Targets;

// A loss and its gradient.
struct Loss {
  double value = 0;  // mean over labelled items
  Tensor gradient;   // with respect to the output; undefined for WantLoss::kValue
};
// Whether the gradient is computed too.
enum class WantLoss { kWithGradient, kValue };

// The mean loss of a batch. output: what Network::forward returned. Items without a label (NaN, -1)
// are ignored; without any label the loss is 0. balanced: classes are weighted by their rarity in
// the batch, as benchmarking-gnns does for PATTERN and CLUSTER.
//
// counts: the result of count_labels() for the batch. Where other ranks compute shares of the
// batch, the sum of theirs: the result is then this rank's share of the loss.
Loss loss(Task task, const Tensor& output, const Targets& targets, bool balanced,
          const std::vector<double>& counts, WantLoss want = WantLoss::kWithGradient);

// Number of labelled items; if balanced, of each class.
std::vector<double> count_labels(Task task, const Targets& targets, bool balanced,
                                 int64_t num_classes);

}  // namespace egc::train
