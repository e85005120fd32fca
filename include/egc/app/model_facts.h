// What is in a model file, or what a configuration would make.
#pragma once

#include <cstdint>
#include <string>

namespace egc::app {

// What `egc info` tells of a model.
struct ModelFacts {
  std::string model;
  int64_t parameters = 0;
  std::string config_json;
  std::string metrics_json;  // may be empty
  std::string dataset_json;  // what it was trained on; may be empty
};

ModelFacts model_facts(const std::string& model);
ModelFacts config_facts(const std::string& config_file);

}  // namespace egc::app
