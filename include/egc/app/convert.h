// Conversion of models to and from other implementations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "egc/app/model_facts.h"
#include "egc/data/dataset.h"

namespace egc::app {

// The format to write: a model file of egc, a state_dict of PyTorch Geometric, one of the authors'
// code, or ONNX.
enum class ExportForm { kModel, kPyg, kAuthors, kOnnx };
// Options of export_model().
struct ExportOptions {
  std::string model;                     // a model file or run directory
  std::string out;                       // file to write
  ExportForm form = ExportForm::kModel;  // format of `out`
  bool half = false;                     // kModel only: store matrices as float16
};

// Writes a model in another format. Throws kUsage where the format cannot express it.
void export_model(const ExportOptions& options);

// Options of import_model().
struct ImportOptions {
  std::string checkpoint;    // file to read, written by torch.save or safetensors
  std::string out;           // model file to write
  bool from_authors = true;  // the authors' names of parameters; otherwise PyTorch Geometric's
  std::string config;        // configuration file; empty: from the shapes and the options below
  std::string model;         // name of the layer
  std::optional<std::string> task;        // shapes do not determine it
  std::optional<std::string> self_loops;  // likewise
  std::optional<std::string> activation;  // likewise
  std::optional<int64_t> heads;           // number of heads
  std::vector<std::string> aggregators;   // names, in the order of the parameters
};

// Makes a model file of another implementation's checkpoint. dataset: what the model will predict
// for, which the file then describes; null: the model cannot predict.
ModelFacts import_model(const ImportOptions& options, const data::Dataset* dataset);

}  // namespace egc::app
