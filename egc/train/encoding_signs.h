// Eigenvectors have no sign of their own. Training draws one for every graph and column in every
// epoch, so that a network does not rely on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/inference/batch_tensors.h"

namespace egc::train {

// Multiplies the Laplacian's columns of each graph of a batch by 1 or -1. encode: of the network.
// The signs are a function of seed, epoch and the graph's number alone.
void draw_signs(inference::BatchTensors& batch, const std::vector<std::string>& encode,
                uint64_t seed, int64_t epoch);

}  // namespace egc::train
