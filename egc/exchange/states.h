// Parameters under the names that other programs give them.
#pragma once

#include <string>

#include "egc/models/model_config.h"
#include "egc/nn/foreign_names.h"
#include "egc/tensor/nd_array.h"

namespace egc::exchange {

// From the names of the authors' release, or of the Open Graph Benchmark's baselines, which it
// builds on.

// How an EGC layer's weights are ordered.
nn::ForeignShape weighting_of(const models::ModelConfig& config);

// A state as its network alone would have it: without what wrappers of networks and of batch norms
// put before the names.
State without_wrappers(State state);

// Under our names and in our orders, ready for Module::load_state.
State network_state(const models::ModelConfig& config, const State& foreign);

// For PyTorch Geometric: a state whose layers load strictly in its classes, and the arguments of
// these classes.

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

// As the authors' release names and orders it, for its load_state_dict. Throws kUsage for networks
// that the release does not have.
State authors_state(const models::ModelConfig& config, const State& own);

}  // namespace egc::exchange
