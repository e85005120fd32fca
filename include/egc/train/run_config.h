// The configuration of a training run: network and training, as one JSON file. The files of
// configs/ and the config.json of a run have this form.
#pragma once

#include <cstdint>
#include <string>

#include "egc/core/named_table.h"
#include "egc/models/model_config.h"
#include "egc/models/model_file.h"

namespace egc::train {

// What updates the parameters; both are Adam with another weight decay.
enum class Optimizer {
  kAdam,  // adam: weight decay is an L2 penalty, added to the gradient
  kAdamW  // adamw: decoupled weight decay (Loshchilov and Hutter, ICLR 2019), of all parameters
};
const NamedTable<Optimizer>& optimizers();  // names: adam, adamw

// How the learning rate changes during training.
enum class Schedule {
  kPlateau,  // plateau: reduced where validation does not improve
  kCosine    // cosine: a function of the step, half a cosine from lr to 0 over all epochs
};
const NamedTable<Schedule>& schedules();  // names: plateau, cosine

// Options of training. docs/parameters.md describes them all.
struct TrainConfig {
  double lr = 1e-3;                        // learning rate
  Optimizer optimizer = Optimizer::kAdam;  // how steps follow from gradients
  double wd = 0;                           // weight decay; what it does depends on the optimizer
  int64_t batch = 64;    // graphs per batch; one large graph is trained in full batches
  int64_t epochs = 200;  // maximum number; the length of the cosine schedule
  Schedule schedule = Schedule::kPlateau;  // of the learning rate
  int64_t warmup_epochs = 0;               // of the cosine schedule: the learning rate rises from 0
  // Patience of early stopping, in epochs; 0: never. Configurations with the cosine schedule have 0
  // unless they say otherwise.
  int64_t patience = 20;
  double lr_factor = 0.5;          // the learning rate is multiplied by it on a plateau
  int64_t lr_patience = 10;        // epochs without improvement that make a plateau
  double min_lr = 1e-5;            // lower bound of the learning rate
  std::string monitor;             // metric to monitor: "loss"; empty: the dataset's metric
  double clip = 0;                 // maximum norm of all gradients together; 0: no clipping
  std::string split;               // name of the dataset's split; empty: the first
  double drop_edges = 0;           // DropEdge probability
  double drop_nodes = 0;           // probability of dropping a node and its edges
  double aggregator_sparsity = 0;  // weight of the penalty that selects aggregators; 0: none
  // Float features: "train" standardizes them by mean and standard deviation of the training set;
  // "none" or empty keeps them.
  std::string standardize;

  bool operator==(const TrainConfig&) const = default;  // compares all fields
};

// Parses and checks a configuration; `where` names the source in errors. Throws kUsage.
TrainConfig parse_train_config(const std::string& json_text, const std::string& where);
std::string to_json(const TrainConfig& config);  // the inverse of parse_train_config()
// All fields, in the order of files.
std::vector<FieldFacts> config_fields();
// Sets the fields that a JSON object contains.
void override_fields(TrainConfig& config, const std::string& json_text);
// Throws kUsage unless the values are valid.
void check_config(const TrainConfig& config);

// The training configuration that a model file records; defaults for what it does not.
TrainConfig training_of(const models::Notes& notes);

// The configuration of a run.
struct RunConfig {
  std::string dataset;           // name or path; may be empty
  models::ModelConfig model;     // the network
  TrainConfig train;             // its training
  uint64_t seed = 0;             // of all randomness
  std::string dataset_checksum;  // in a run's config.json; otherwise empty
  std::string version;           // of the program that started the run; otherwise empty
};

// Parses and checks a configuration; `where` names the source in errors. Throws kUsage.
RunConfig parse_run_config(const std::string& json_text, const std::string& where);
// Reads a configuration file.
RunConfig read_run_config(const std::string& path);
// The network of a configuration file.
inline models::ModelConfig read_model_config(const std::string& path) {
  return read_run_config(path).model;
}

}  // namespace egc::train
