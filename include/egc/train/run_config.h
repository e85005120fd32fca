// What a training run is: the network and how it is trained, as one JSON file. The files of
// configs/ and the config.json of a run have this form, so either can start a run again.
#pragma once

#include <cstdint>
#include <string>

#include "egc/models/model_config.h"
#include "egc/models/model_file.h"

namespace egc::train {

struct TrainConfig {
  double lr = 1e-3;
  double wd = 0;           // Adam's own L2: added to the gradient
  int64_t batch = 64;      // graphs; one large graph is always trained whole
  int64_t epochs = 200;    // at most
  int64_t patience = 20;   // more epochs without improvement end it; 0: never
  double lr_factor = 0.5;  // the learning rate is multiplied by it after lr_patience epochs
  int64_t lr_patience = 10;
  double min_lr = 1e-5;
  std::string monitor;             // metric to monitor: "loss" or the dataset's metric (empty)
  double clip = 0;                 // maximum norm of all gradients together (clipping); 0: off
  std::string split;               // of the dataset; empty: its first
  double drop_edges = 0;           // DropEdge probability
  double drop_nodes = 0;           // likewise of nodes, with their edges
  double aggregator_sparsity = 0;  // of aggregator_penalty.h
  // Float features: "train" scales them by the mean and deviation of the training set; "none" or
  // empty leaves them as they are.
  std::string standardize;

  bool operator==(const TrainConfig&) const = default;
};

TrainConfig parse_train_config(const std::string& json_text, const std::string& where);
std::string to_json(const TrainConfig& config);
// As for models::ModelConfig.
std::vector<FieldFacts> config_fields();
void override_fields(TrainConfig& config, const std::string& json_text);
// Throws kUsage unless the numbers make sense.
void check_config(const TrainConfig& config);

// From a model's notes; the defaults where they do not tell.
TrainConfig training_of(const models::Notes& notes);

struct RunConfig {
  std::string dataset;  // may be empty
  models::ModelConfig model;
  TrainConfig train;
  uint64_t seed = 0;
  std::string dataset_checksum;  // of a run that has begun
  std::string version;           // likewise: of the program that began it
};

RunConfig parse_run_config(const std::string& json_text, const std::string& where);
RunConfig read_run_config(const std::string& path);
inline models::ModelConfig read_model_config(const std::string& path) {
  return read_run_config(path).model;
}

}  // namespace egc::train
