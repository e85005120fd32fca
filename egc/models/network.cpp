#include "egc/models/network.h"

#include "egc/models/hetero_network.h"
#include "egc/models/homogeneous_network.h"

namespace egc::models {

std::shared_ptr<Network> make_network(const ModelConfig& config) {
  check_config(config);
  if (config.task == Task::kNodeClassificationHetero)
    return std::make_shared<HeteroNetwork>(config);
  return std::make_shared<HomogeneousNetwork>(config);
}

std::shared_ptr<Network> copy_network(const Network& network) {
  const auto copy = make_network(network.config());
  copy->to(network.dtype());
  copy->copy_values(network);
  return copy;
}

}  // namespace egc::models
