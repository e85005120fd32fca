// Which networks fit a dataset.
#pragma once

#include <string>

#include "egc/data/dataset.h"
#include "egc/models/model_config.h"

namespace egc::inference {

// Task, encoder and sizes of input and output as the dataset has them; the rest as the paper's
// networks of that kind of task. `outputs` of a sequence task is the size of the vocabulary.
models::ModelConfig config_for_dataset(const data::Dataset& dataset, const std::string& model,
                                       int64_t hidden = 128);

// Fills in the features of edges for a network that uses them and does not say which.
void fill_edge_schema(models::ModelConfig& config, const data::Dataset& dataset);

// The dataset as the network sees it: without features of edges that it does not use.
data::Dataset seen_by(const models::ModelConfig& config, const data::Dataset& dataset);

// Throws kUsage with what was expected and found unless the network fits the dataset.
void check_fits(const models::ModelConfig& config, const data::Dataset& dataset);

// Whether the network reads features of edges. Where it does, they are checked, standardized and
// asked for in new tables.
bool uses_edge_features(const models::ModelConfig& config);

}  // namespace egc::inference
