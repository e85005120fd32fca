// Everything that decides a network's shape, as one typed record. JSON in, JSON out; unknown keys
// are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "egc/core/config_field.h"
#include "egc/core/named_table.h"
#include "egc/core/task.h"
#include "egc/graph/hetero_graph.h"
#include "egc/kernels/aggregator.h"
#include "egc/nn/egc_conv.h"

namespace egc::models {

using egc::Task;

// What turns the features of a node into `hidden` columns.
enum class Encoder {
  kNone,       // features go straight into the first layer
  kLinear,     // of float features
  kEmbedding,  // sum of one embedding per categorical feature
  kAtom,       // the same, initialised as the Open Graph Benchmark's atom encoder
  kAst         // the same, the last feature (the depth) clipped to its table
};

const NamedTable<Encoder>& encoders();

enum class Readout { kMean, kSum, kMax };
const NamedTable<Readout>& readouts();

// Where dropout acts; any of them together.
struct DropoutAt {
  bool encoder = false;     // after the encoder
  bool conv_input = false;  // before every layer, not on the residual
  bool activation = false;  // after every ReLU, before the residual
  bool head = false;        // between the head's Linears
  bool operator==(const DropoutAt&) const = default;
};
// "encoder", "conv-input", "activation", "head"; throws kUsage with these for another name.
DropoutAt parse_dropout_at(const std::vector<std::string>& places);

struct ModelConfig {
  Task task = Task::kGraphRegression;
  std::string model = "egc-s";  // a layer of nn/conv_table.h, or ga-mlp
  int64_t hidden = 0;
  int64_t layers = 4;
  int64_t outputs = 1;  // values or classes (of each position of a sequence)

  Encoder encoder = Encoder::kLinear;
  int64_t features = 0;             // of a node, where they are floats
  std::vector<int64_t> categories;  // of each feature, where they are categorical

  // Options of the layers that take them (nn/conv_table.h); each layer has its own defaults.
  std::optional<int64_t> heads;
  std::optional<int64_t> bases;
  std::optional<AggregatorSet> aggregators;
  std::optional<SelfLoops> self_loops;             // all
  std::optional<nn::WeightActivation> activation;  // identity
  std::optional<int64_t> towers;                   // 4
  std::optional<double> mean_log_degree;  // of the training graphs; without it 1, and a warning

  bool norm = true;      // batch norm after every layer
  bool residual = true;  // around every layer
  double dropout = 0;
  DropoutAt dropout_at;
  Readout readout = Readout::kMean;
  int64_t sequence_length = 5;

  // Heterogeneous tasks: the schema, which type is classified, and for each type the number of
  // learned embeddings (0: it has features).
  HeteroSchema schema;
  std::string target_type;
  std::vector<int64_t> embedded_nodes;

  bool operator==(const ModelConfig&) const = default;
};

// Options that the layer does not take: refused, or dropped as in files of versions that recorded
// them all the same.
enum class UnsupportedOptions { kRefuse, kDrop };

// `where` names the text in errors, for instance its file.
ModelConfig parse_model_config(const std::string& json_text, const std::string& where,
                               UnsupportedOptions not_taken = UnsupportedOptions::kRefuse);
std::string to_json(const ModelConfig& config);

// The fields, in the order of files.
std::vector<FieldFacts> config_fields();
// Sets the fields that a JSON object names and leaves the others.
void override_fields(ModelConfig& config, const std::string& json_text);

// Another layer in the same network: options that only some layers take go back to its defaults.
void set_layer(ModelConfig& config, const std::string& layer);

// Throws unless the numbers make sense together. Parsing does it; code that fills a config by hand
// may.
void check_config(const ModelConfig& config);

}  // namespace egc::models
