#include "egc/app/model_facts.h"

#include "egc/inference/model.h"
#include "egc/models/model_file.h"
#include "egc/train/run_config.h"

namespace egc::app {

ModelFacts model_facts(const std::string& model) {
  const models::LoadedNetwork loaded = models::load_network(inference::model_path(model));
  ModelFacts out;
  out.model = loaded.network->config().model;
  out.parameters = loaded.network->num_parameters();
  out.config_json = models::to_json(loaded.network->config());
  const auto note = [&](const char* key) {
    const auto it = loaded.notes.find(key);
    return it == loaded.notes.end() ? std::string() : it->second;
  };
  out.metrics_json = note("metrics");
  out.dataset_json = note("dataset");
  return out;
}

ModelFacts config_facts(const std::string& config_file) {
  const auto network = models::make_network(train::read_model_config(config_file));
  ModelFacts out;
  out.model = network->config().model;
  out.parameters = network->num_parameters();
  out.config_json = models::to_json(network->config());
  return out;
}

}  // namespace egc::app
