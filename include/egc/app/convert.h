// Models to and from the forms of other implementations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "egc/app/model_facts.h"
#include "egc/data/dataset.h"

namespace egc::app {

enum class ExportForm { kModel, kPyg, kAuthors, kOnnx };
struct ExportOptions {
  std::string model;
  std::string out;
  ExportForm form = ExportForm::kModel;
  bool half = false;  // kModel
};

void export_model(const ExportOptions& options);

struct ImportOptions {
  std::string checkpoint;
  std::string out;
  bool from_authors = true;  // else from PyTorch Geometric
  std::string config;        // a file; without it the shapes tell, and what follows
  std::string model;
  std::optional<std::string> task, self_loops, activation;
  std::optional<int64_t> heads;
  std::vector<std::string> aggregators;
};

// dataset: what the model will be asked about, or null; predictions need it.
ModelFacts import_model(const ImportOptions& options, const data::Dataset* dataset);

}  // namespace egc::app
