// A network's state as the authors' release names and orders it, for its load_state_dict.
#pragma once

#include "egc/models/model_config.h"
#include "egc/nn/state.h"

namespace egc::exchange {

// Throws kUsage for networks that the release does not have.
nn::State authors_state(const models::ModelConfig& config, const nn::State& own);

}  // namespace egc::exchange
