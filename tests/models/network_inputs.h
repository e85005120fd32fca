// What tests give to networks.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "egc/core/rng.h"
#include "egc/models/network.h"

namespace egc::testing {

// values: [rows, columns]
inline models::Categories categories_of(std::vector<int32_t> values, int64_t columns) {
  const auto kept = std::make_shared<const std::vector<int32_t>>(std::move(values));
  return {*kept, columns, kept};
}

// counts: how many categories each column has.
inline models::Categories random_categories(int64_t rows, const std::vector<int64_t>& counts,
                                            uint64_t seed) {
  Rng rng(seed);
  std::vector<int32_t> values;
  for (int64_t i = 0; i < rows; ++i)
    for (const int64_t n : counts)
      values.push_back(static_cast<int32_t>(rng.below(static_cast<uint32_t>(n))));
  return categories_of(std::move(values), std::ssize(counts));
}

// With values from before training.
inline std::shared_ptr<models::Network> new_network(const models::ModelConfig& config,
                                                    uint64_t seed = 1) {
  const auto network = models::make_network(config);
  Rng rng(seed);
  network->reset_parameters(rng);
  return network;
}

inline Tensor infer(models::Network& network, const models::ModelInput& input) {
  Tape tape = Tape::inference();
  return network.forward(tape, input);
}

// Every parameter and buffer of a state, none of the counters.
inline void fill_values(models::Network& network, double value) {
  State state = network.state();
  for (auto& [name, array] : state)
    if (array.dtype() != DType::kI64)
      array = NdArray(array.shape(), Tensor::full(1, array.numel(), array.dtype(), value));
  network.load_state(state, "test");
}

}  // namespace egc::testing
