// Creating run directories from options, a configuration file and the dataset.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "egc/app/loaded_dataset.h"
#include "egc/train/run_config.h"

namespace egc::app {

// What the user sets; everything else comes from the configuration file or defaults that suit the
// dataset.
struct TrainOptions {
  std::string dataset;                // name or path
  std::string config;                 // configuration file; may be empty
  std::string model;                  // layer; empty: from the configuration
  std::optional<int64_t> parameters;  // choose `hidden` to have about so many parameters
  // Fields of the configuration (settable_fields()) by key, with values as on the command line:
  // {"hidden", "64"}, {"norm", "false"}, {"aggregators", "add,std,max"}.
  std::map<std::string, std::string> settings;
};

// The fields that a user may set: those of the network, then those of training.
std::vector<FieldFacts> settable_fields();

// The complete configuration. Throws kUsage for unknown fields and invalid values.
train::RunConfig resolve_config(const data::Dataset& dataset, const TrainOptions& options);

// A run to create.
struct RunToCreate {
  std::string directory;  // where
  uint64_t seed = 0;      // of its randomness
};

// Creates run directories with complete configurations, to be trained by `processes` ranks.
void create_runs(const LoadedDataset& dataset, const TrainOptions& options,
                 const std::vector<RunToCreate>& runs, int64_t processes = 1);

}  // namespace egc::app
