#include "egc/models/network.h"

#include "egc/core/error.h"
#include "egc/models/hetero_network.h"
#include "egc/models/homogeneous_network.h"
#include "egc/models/keep_generator.h"
#include "egc/nn/group.h"

namespace egc::models {

int64_t Network::num_parameters() const {
  int64_t count = 0;
  for (const at::Tensor& p : parameters()) count += p.numel();
  return count;
}

std::shared_ptr<torch::nn::Module> Network::clone(
    const c10::optional<torch::Device>& device) const {
  check(!device.has_value() || device->is_cpu(), "Network: clones live on the CPU");
  const KeepGenerator keep;
  const auto copy = make_network(config_);
  nn::copy_state(*this, *copy);
  copy->train(is_training());
  return copy;
}

void Network::clone_(torch::nn::Module& other, const c10::optional<torch::Device>&) {
  nn::copy_state(other, *this);
}

std::shared_ptr<Network> make_network(const ModelConfig& config) {
  check_config(config);
  if (config.task == Task::kNodeClassificationHetero)
    return std::make_shared<HeteroNetwork>(config);
  return std::make_shared<HomogeneousNetwork>(config);
}

}  // namespace egc::models
