// From options, a configuration file and the dataset to run directories with complete
// configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "egc/app/loaded_dataset.h"
#include "egc/train/run_config.h"

namespace egc::app {

// What the user asked of training; what is not given comes from --config, or suits the dataset.
struct TrainFlags {
  std::string dataset;
  std::string config;  // a file
  std::string model;
  std::optional<int64_t> hidden, layers, heads, bases;
  std::optional<int64_t> parameters;  // instead of hidden: the width that gives so many
  std::vector<std::string> aggregators;
  std::optional<std::string> self_loops, activation;
  std::optional<bool> norm, residual;
  std::optional<std::string> encoder, readout;
  std::optional<double> dropout;
  std::vector<std::string> dropout_at;
  std::optional<double> lr, wd, lr_factor, min_lr, clip, drop_edges, drop_nodes,
      aggregator_sparsity;
  std::optional<int64_t> batch, epochs, patience, lr_patience;
  std::optional<std::string> watch, split, standardize;
};

// Everything that the flags, a configuration file and the dataset say together.
train::RunConfig resolve_config(const data::Dataset& dataset, const TrainFlags& flags);

struct RunToCreate {
  std::string directory;
  uint64_t seed = 0;
};

// Run directories with complete configurations, ready to be trained in, by `processes` together.
void create_runs(const LoadedDataset& dataset, const TrainFlags& flags,
                 const std::vector<RunToCreate>& runs, int64_t processes = 1);

}  // namespace egc::app
