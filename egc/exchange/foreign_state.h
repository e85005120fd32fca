// A network's state that has the names of the authors' release or of the Open Graph Benchmark's
// baselines, which it builds on.
#pragma once

#include "egc/models/model_config.h"
#include "egc/nn/foreign_names.h"

namespace egc::exchange {

// How an EGC layer's weights are ordered.
nn::ForeignShape weighting_of(const models::ModelConfig& config);

// A state as its network alone would have it: without what wrappers of networks and of batch norms
// put before the names.
State without_wrappers(State state);

// Under our names and in our orders, ready for Module::load_state.
State network_state(const models::ModelConfig& config, const State& foreign);

}  // namespace egc::exchange
