// The networks' state under the names of the authors' release and of the Open Graph Benchmark's
// baselines, which it builds on.
#pragma once

#include "egc/models/model_config.h"
#include "egc/nn/state.h"

namespace egc::models {

// Under our names and in our orders, ready for nn::load_state.
nn::State network_state(const ModelConfig& config, const nn::State& foreign);

}  // namespace egc::models
