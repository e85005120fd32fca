// A batch of the loader as tensors, sharing its memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "egc/data/graph_store.h"
#include "egc/models/network.h"

namespace egc::train {

struct BatchTensors {
  models::ModelInput input;
  // What the loss compares with: values [rows, targets], classes [rows], or tokens [graphs,
  // length]. NaN and -1: no label, or none of the part of the split that is asked for.
  at::Tensor target;
  std::vector<int64_t> ids;  // which graphs; empty for one large graph
};

// The tensors keep the batch alive.
BatchTensors to_tensors(data::GraphBatch batch, Task task);

}  // namespace egc::train
