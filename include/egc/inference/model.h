// Predictions from a model file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/target_vocabulary.h"
#include "egc/models/model_file.h"

namespace egc::inference {

// Predictions: one row per graph, or per node of the graphs one after the other.
struct PredictionTable {
  int64_t rows = 0;              // graphs or nodes
  int64_t columns = 0;           // values per row
  std::vector<float> values;     // [rows, columns]: regression: values; otherwise: probabilities
  std::vector<int64_t> classes;  // [rows], the most likely class, in tasks with classes
  std::vector<std::vector<std::string>> words;  // [rows], sequences
};

// A trained network with everything that predictions need.
class Model {
 public:
  // Loads a model file or the best model of a run directory. Throws kModel where it is invalid.
  static Model load(const std::filesystem::path& path);
  // Loads several models trained on the same data; predictions are averaged.
  static Model load_ensemble(const std::vector<std::filesystem::path>& paths);

  const models::ModelConfig& config() const { return network_->config(); }  // of the network
  const models::Notes& notes() const { return notes_; }                     // metadata of the file
  // Description of the training data: classes, targets, how features were made.
  const data::DatasetInfo& trained_on() const { return info_; }
  // Words of a sequence task.
  const data::TargetVocabulary& vocabulary() const { return vocabulary_; }
  models::Network& network() { return *network_; }  // for custom forward passes

  // Throws kData with the difference unless the dataset has the features that the network was
  // trained on.
  void check_input(const data::Dataset& dataset) const;
  // Checks a dataset, standardizes its features as in training and adds the encodings that the
  // network reads.
  data::Dataset prepare(const data::Dataset& dataset) const;
  // Predicts for all graphs, `batch` at a time, or for the nodes of the dataset's only graph.
  PredictionTable predict(const data::Dataset& dataset, int64_t batch = 256);

 private:
  Model() = default;

  std::shared_ptr<models::Network> network_;
  models::Notes notes_;
  data::DatasetInfo info_;
  data::TargetVocabulary vocabulary_;
};

// The model file of a run directory (best.safetensors); other paths are returned unchanged.
std::filesystem::path model_path(const std::filesystem::path& path);

}  // namespace egc::inference
