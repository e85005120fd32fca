// A network for PyTorch Geometric: a state whose layers load strictly in its classes, and what
// these are to be made with.
#pragma once

#include <string>

#include "egc/models/model_config.h"
#include "egc/tensor/nd_array.h"

namespace egc::exchange {

// Tensors under PyTorch Geometric's names, in its shapes. Layers that it does not have (MPNN,
// R-EGC, relations between several types of nodes) keep ours.
State pyg_state(const models::ModelConfig& config, const State& own);
bool has_pyg_layer(const models::ModelConfig& config);

// JSON: for each layer the class and its arguments, by the prefix of its tensors:
// {"body.blocks.0.conv": {"class": "EGConv", "in_channels": 64, ...}}. Empty where it has no such
// layer.
std::string pyg_layers(const models::ModelConfig& config);

// The configuration as its metadata has it: with PyTorch Geometric's names of aggregators.
std::string pyg_config(const models::ModelConfig& config);

}  // namespace egc::exchange
