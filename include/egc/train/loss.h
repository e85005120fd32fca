// The loss of each task.
#pragma once

#include <vector>

#include "egc/core/task.h"
#include "egc/inference/batch_tensors.h"

namespace egc::train {

using inference::Targets;

struct Loss {
  double value = 0;
  Tensor gradient;  // with respect to the output, where it was asked for
};
enum class WantLoss { kWithGradient, kValue };

// output: what Network::forward gives. Unlabelled items (NaN, -1) count nothing; without any label
// the loss is 0. `balanced`: classes weigh by their rarity within the batch, as benchmarking-gnns
// weighs PATTERN and CLUSTER.
//
// counts: what count_labels says of the batch. Where other processes have a part of it, that of all
// parts added up: the loss is then this part's share, and the shares add up to the loss of the
// batch.
Loss loss(Task task, const Tensor& output, const Targets& targets, bool balanced,
          const std::vector<double>& counts, WantLoss want = WantLoss::kWithGradient);

// How many items have a label; balanced: of each of the classes.
std::vector<double> count_labels(Task task, const Targets& targets, bool balanced,
                                 int64_t num_classes);

}  // namespace egc::train
