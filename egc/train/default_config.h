// How a network is trained on a dataset, where nothing is given.
#pragma once

#include <string>

#include "egc/data/dataset.h"
#include "egc/train/run_config.h"

namespace egc::train {

// The network and its training by task and size, for who gives nothing but a model. split: of the
// dataset; empty: its first. docs/training.md has the table and where it was measured.
RunConfig default_run(const data::Dataset& dataset, const std::string& model,
                      const std::string& split = "");

}  // namespace egc::train
