// A network's state as the authors' release names and orders it, for its load_state_dict.
#pragma once

#include "egc/models/model_config.h"
#include "egc/tensor/nd_array.h"

namespace egc::exchange {

// Throws kUsage for networks that the release does not have.
State authors_state(const models::ModelConfig& config, const State& own);

}  // namespace egc::exchange
