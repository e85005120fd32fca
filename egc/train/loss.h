// The loss of each task.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/core/task.h"

namespace egc::train {

// output: what Network::forward gives; target: as BatchTensors has it. Unlabelled items (NaN, -1)
// count nothing; without any label the loss is 0. `balanced`: classes weigh by their rarity within
// the batch, as benchmarking-gnns weighs PATTERN and CLUSTER.
at::Tensor loss(Task task, const at::Tensor& output, const at::Tensor& target,
                bool balanced = false);

}  // namespace egc::train
