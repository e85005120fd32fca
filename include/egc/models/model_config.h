// The configuration of a network: everything that determines its shape, to and from JSON.
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

// What maps the features of a node to `hidden` columns.
enum class Encoder {
  kNone,       // none: features go straight into the first layer
  kLinear,     // a linear layer, for float features
  kEmbedding,  // the sum of one embedding per categorical feature
  kAtom,       // the same, initialized as the Open Graph Benchmark's atom encoder
  kAst         // the same, the last feature (depth) clipped to the size of its table
};

const NamedTable<Encoder>& encoders();  // names: linear, ...

// How nodes are pooled to graphs.
enum class Readout { kMean, kSum, kMax };
const NamedTable<Readout>& readouts();  // names: mean, sum, max

// What EGC makes of the sum of a neighbour's bases and an edge's features before it aggregates.
enum class Message { kIdentity, kRelu };
const NamedTable<Message>& messages();  // names: identity, relu
// What normalizes the result of a layer.
enum class Norm {
  kBatch,  // batch, in files true: each column over the nodes of a batch
  kLayer,  // layer: each node over its columns
  kNone    // none, in files false
};
const NamedTable<Norm>& norms();  // names: batch, layer, none

// Where dropout acts; several places are possible.
struct DropoutAt {
  bool encoder = false;                               // after the encoder
  bool conv_input = false;                            // before every layer, not on the residual
  bool activation = false;                            // after every ReLU, before the residual
  bool head = false;                                  // between the head's linear layers
  bool operator==(const DropoutAt&) const = default;  // compares all fields
};
// From names: "encoder", "conv-input", "activation", "head". Throws kUsage for others.
DropoutAt parse_dropout_at(const std::vector<std::string>& places);

// The configuration of a network. docs/parameters.md lists its fields.
struct ModelConfig {
  Task task = Task::kGraphRegression;  // what it predicts
  std::string model = "egc-s";         // a layer of nn/conv_table.h, or ga-mlp
  int64_t hidden = 0;                  // columns of the hidden layers
  int64_t layers = 4;                  // number of graph layers
  int64_t outputs = 1;                 // values or classes, per position in a sequence

  Encoder encoder = Encoder::kLinear;  // of the node features
  int64_t features = 0;                // columns of float features
  std::vector<int64_t> categories;     // number of categories of each categorical feature
  // Encodings of nodes that it reads beside the features: parse_encodings() of
  // graph/node_encodings.h.
  std::vector<std::string> encode;

  bool edge_features = false;            // whether layers use features of edges
  std::vector<int64_t> edge_categories;  // number of categories of each categorical edge feature
  int64_t edge_numbers = 0;              // columns of float edge features

  // Number of heads, of layers that have them. This and the options below are for layers that take
  // them (nn/conv_table.h); without a value, the layer's default.
  std::optional<int64_t> heads;
  std::optional<int64_t> bases;                    // of EGC and R-EGC
  std::optional<AggregatorSet> aggregators;        // of EGC, R-EGC, SAGE and GA-MLP
  std::optional<SelfLoops> self_loops;             // of EGC; default all
  std::optional<nn::WeightActivation> activation;  // of EGC; default identity
  std::optional<Message> message;                  // of EGC with edge features; default relu
  std::optional<int64_t> towers;                   // of MPNN and PNA; default 4
  std::optional<double> mean_log_degree;           // of PNA; default 1, with a warning

  Norm norm = Norm::kBatch;    // after every layer
  double norm_momentum = 0.1;  // of the running statistics of batch norm
  bool residual = true;        // around every layer
  // Width of the feed-forward sublayer after every layer, in multiples of hidden; 0: none.
  int64_t feed_forward = 0;
  bool virtual_node = false;         // a virtual node of each graph, for tasks on graphs
  double dropout = 0;                // probability
  DropoutAt dropout_at;              // where it acts
  Readout readout = Readout::kMean;  // for tasks on graphs
  // Linear layers of the head of these tasks but for sequences, each half as wide as the one
  // before.
  int64_t head_layers = 3;
  bool head_norm = true;        // batch norm between these
  int64_t sequence_length = 5;  // words that a sequence task predicts

  // Heterogeneous tasks: node types and relations.
  HeteroSchema schema;
  std::string target_type;  // node type that is classified
  // Learned embeddings of each node type; 0: it has features.
  std::vector<int64_t> embedded_nodes;

  bool operator==(const ModelConfig&) const = default;  // compares all fields
};

// What parsing does with options that the layer does not take: an error, or ignore them, as in
// files of versions that recorded them.
enum class UnsupportedOptions { kRefuse, kDrop };

// Parses and checks a configuration. `where` names the source in errors, for instance a file.
// Throws kUsage for unknown keys and invalid values.
ModelConfig parse_model_config(const std::string& json_text, const std::string& where,
                               UnsupportedOptions not_taken = UnsupportedOptions::kRefuse);
std::string to_json(const ModelConfig& config);  // the inverse of parse_model_config()

// All fields, in the order of files.
std::vector<FieldFacts> config_fields();
// Sets the fields that a JSON object contains.
void override_fields(ModelConfig& config, const std::string& json_text);

// Changes the layer; options that only some layers take are reset to defaults.
void set_layer(ModelConfig& config, const std::string& layer);

// Throws kUsage unless the values are valid together. Parsing calls it; call it after filling a
// configuration by hand.
void check_config(const ModelConfig& config);

}  // namespace egc::models
