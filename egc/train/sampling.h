// Training steps on part of a batch: DropEdge (Rong et al. 2020) and GraphSAINT's node sampler
// (Zeng et al. 2020). Evaluation always sees everything.
#pragma once

#include "egc/core/rng.h"
#include "egc/inference/batch_tensors.h"
#include "egc/train/run_config.h"

namespace egc::train {

using inference::BatchTensors;

// The batch itself where the configuration drops nothing. Nodes of several types cannot be dropped.
BatchTensors sample(BatchTensors batch, const TrainConfig& config, Task task, Rng rng);

}  // namespace egc::train
