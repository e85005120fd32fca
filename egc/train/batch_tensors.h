// A batch of the loader as tensors, sharing its memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "egc/data/graph_store.h"
#include "egc/models/network.h"

namespace egc::train {

struct BatchTensors {
  models::ModelInput input;
  // What the loss compares with: values [rows, targets], classes [rows], or tokens [graphs,
  // length].
  at::Tensor target;
};

// The tensors keep the batch alive.
BatchTensors to_tensors(data::GraphBatch batch, Task task);

}  // namespace egc::train
