// The configuration of a network for a dataset, where none is given.
#pragma once

#include <string>

#include "egc/data/dataset.h"
#include "egc/models/model_config.h"
#include "egc/train/run_config.h"

namespace egc::train {

// Task, encoder and sizes of input and output as the dataset has them; the rest as the paper's
// networks of that kind of task. `outputs` of a sequence task is the size of the vocabulary.
models::ModelConfig default_config(const data::Dataset& dataset, const std::string& model,
                                   int64_t hidden = 128);

// The network and its training by task and size, for who gives nothing but a model. split: of the
// dataset; empty: its first. docs/training.md has the table and where it was measured.
RunConfig default_run(const data::Dataset& dataset, const std::string& model,
                      const std::string& split = "");

// Throws kUsage with what was expected and found unless the network fits the dataset.
void check_fits(const models::ModelConfig& config, const data::Dataset& dataset);

}  // namespace egc::train
