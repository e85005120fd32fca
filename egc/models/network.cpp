#include "egc/models/network.h"

#include "egc/models/hetero_network.h"
#include "egc/models/homogeneous_network.h"
#include "egc/nn/batch_norm.h"

namespace egc::models {

std::shared_ptr<Network> make_network(const ModelConfig& config) {
  check_config(config);
  std::shared_ptr<Network> network;
  if (config.task == Task::kNodeClassificationHetero)
    network = std::make_shared<HeteroNetwork>(config);
  else
    network = std::make_shared<HomogeneousNetwork>(config);
  for (auto* norm : network->modules<nn::NormActResidual>()) norm->momentum = config.norm_momentum;
  return network;
}

std::shared_ptr<Network> copy_network(const Network& network) {
  const auto copy = make_network(network.config());
  copy->to(network.dtype());
  copy->copy_values(network);
  return copy;
}

}  // namespace egc::models
