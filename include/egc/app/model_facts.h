// Descriptions of model files and configurations.
#pragma once

#include <cstdint>
#include <string>

namespace egc::app {

// What `egc info` prints about a model.
struct ModelFacts {
  std::string model;         // name of the layer
  int64_t parameters = 0;    // number of trained values
  std::string config_json;   // configuration of network and training
  std::string metrics_json;  // scores; may be empty
  std::string dataset_json;  // description of the training data; may be empty
};

ModelFacts model_facts(const std::string& model);  // of a model file or run directory
// Of the network that a configuration file describes.
ModelFacts config_facts(const std::string& config_file);

}  // namespace egc::app
