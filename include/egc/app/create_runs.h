// From options, a configuration file and the dataset to run directories with complete
// configurations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "egc/app/loaded_dataset.h"
#include "egc/train/run_config.h"

namespace egc::app {

// What the user asked of training; what is not given comes from the configuration file, or suits
// the dataset.
struct TrainOptions {
  std::string dataset;
  std::string config;  // a file
  std::string model;
  std::optional<int64_t> parameters;  // instead of hidden: the width that gives so many
  // Fields of the configuration (settable_fields) by key, written as on the command line:
  // {"hidden", "64"}, {"norm", "false"}, {"aggregators", "add,std,max"}.
  std::map<std::string, std::string> settings;
};

// The fields that a user may set: those of the model, then those of training.
std::vector<FieldFacts> settable_fields();

// Everything that the options, a configuration file and the dataset say together.
train::RunConfig resolve_config(const data::Dataset& dataset, const TrainOptions& options);

struct RunToCreate {
  std::string directory;
  uint64_t seed = 0;
};

// Run directories with complete configurations, ready to be trained in, by `processes` together.
void create_runs(const LoadedDataset& dataset, const TrainOptions& options,
                 const std::vector<RunToCreate>& runs, int64_t processes = 1);

}  // namespace egc::app
