// The model that a command is given: a file, a run, a directory of runs with several seeds, or the
// name of one that is shipped.
#pragma once

#include <string>
#include <vector>

#include "cli/common.h"

namespace egc::cli {

struct ModelArgument {
  std::string name;
  bool ensemble = false;
};

// With the flag --ensemble where a command can take several.
void add_model_argument(CLI::App& command, ModelArgument& argument, bool may_be_several);

// The files. Of several seeds: the one that --seed names, the best by validation, or all of them.
std::vector<std::string> find_models(const ModelArgument& argument, const CommonOptions& common);

// Where --seed chose a run, generated data are still those of training.
CommonOptions options_for_data(const ModelArgument& argument, const CommonOptions& common);

}  // namespace egc::cli
