// What network a foreign state belongs to, as far as names and shapes tell.
#pragma once

#include <optional>

#include "egc/models/model_config.h"
#include "egc/tensor/nd_array.h"

namespace egc::exchange {

// What shapes do not tell. Where it is needed and missing, the error says so.
struct ConfigHints {
  std::optional<Task> task;          // default: by encoder and head
  std::optional<std::string> model;  // mpnn-sum or mpnn-max
  std::optional<int64_t> heads;      // of EGC, where all bases are one matrix (PyTorch Geometric)
  std::optional<AggregatorSet> aggregators;  // of EGC, where it has several
  std::optional<SelfLoops> self_loops;       // default: symnorm for the authors' form, else all
  std::optional<nn::WeightActivation> activation;  // default: identity
};

// Whether EGC's weights have the authors' names.
bool has_authors_weights(const State& state);

models::ModelConfig infer_config(const State& foreign, const ConfigHints& hints);

}  // namespace egc::exchange
