// The loss of each task.
#pragma once

#include <ATen/core/Tensor.h>

#include "egc/core/task.h"

namespace egc::train {

// output: what Network::forward gives; target: as BatchTensors has it. Unlabelled items (NaN, -1)
// count nothing; without any label the loss is 0. `balanced`: classes weigh by their rarity within
// the batch, as benchmarking-gnns weighs PATTERN and CLUSTER.
//
// Where other processes have a part of the batch: `counts`, what count_labels says of all parts
// added up. The loss is then this part's share; the shares add up to the loss of the batch.
at::Tensor loss(Task task, const at::Tensor& output, const at::Tensor& target,
                bool balanced = false, const at::Tensor& counts = {});

// How many items have a label; balanced: of each class. [1] or [classes], float64.
at::Tensor count_labels(Task task, const at::Tensor& output, const at::Tensor& target,
                        bool balanced);

}  // namespace egc::train
