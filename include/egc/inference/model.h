// A model from a file at work: what it says of graphs and nodes it has not seen.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/target_vocabulary.h"
#include "egc/models/model_file.h"

namespace egc::inference {

// One row for each graph, or each node of the graphs one after the other.
struct PredictionTable {
  int64_t rows = 0;
  int64_t columns = 0;                          // of values
  std::vector<float> values;                    // regression: values; else probabilities
  std::vector<int64_t> classes;                 // the likeliest, where there are classes
  std::vector<std::vector<std::string>> words;  // sequences
};

class Model {
 public:
  // A model file of a training run, or a run's directory; whatever is wrong with it is kModel.
  static Model load(const std::filesystem::path& path);
  // The mean of several that were trained on the same data.
  static Model load_ensemble(const std::vector<std::filesystem::path>& paths);

  const models::ModelConfig& config() const { return network_->config(); }
  const models::Notes& notes() const { return notes_; }
  // What the network was trained on: names of classes and targets, the recipe of features.
  const data::DatasetInfo& trained_on() const { return info_; }
  const data::TargetVocabulary& vocabulary() const { return vocabulary_; }
  models::Network& network() { return *network_; }

  // Throws kData with what was expected and found unless the dataset fits.
  void check_input(const data::Dataset& dataset) const;
  // The dataset as the network reads it: checked, with its features standardised as in training.
  data::Dataset prepare(const data::Dataset& dataset) const;
  // Of all graphs, `batch` at a time; of one graph whole.
  PredictionTable predict(const data::Dataset& dataset, int64_t batch = 256);

 private:
  Model() = default;

  std::shared_ptr<models::Network> network_;
  models::Notes notes_;
  data::DatasetInfo info_;
  data::TargetVocabulary vocabulary_;
};

// best.safetensors of a run's directory; the path itself otherwise.
std::filesystem::path model_path(const std::filesystem::path& path);

}  // namespace egc::inference
