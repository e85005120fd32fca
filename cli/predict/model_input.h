// What a model is given to look at: a dataset, a file of SMILES, or tables, as the model was
// trained on them.
#pragma once

#include <string>

#include "cli/common.h"
#include "egc/app/input_chunks.h"
#include "egc/data/build/build_csv.h"

namespace egc::cli {

struct ModelInputOptions {
  std::string input;
  std::string smiles_column;
  bool skip_bad = false;
  data::CsvOptions csv;
};

void add_model_input(CLI::App& command, ModelInputOptions& options);
// Throws kUsage unless there is one input.
void check_model_input(const ModelInputOptions& options, const char* command);

app::NextChunk open_model_input(const ModelInputOptions& options, const CommonOptions& common,
                                const data::DatasetInfo& trained_on);

}  // namespace egc::cli
