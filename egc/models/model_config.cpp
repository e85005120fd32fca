#include "egc/models/model_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "egc/core/json_fields.h"
#include "egc/core/json_parse.h"
#include "egc/graph/node_encodings.h"
#include "egc/nn/conv_table.h"

namespace egc::models {

const NamedTable<Encoder>& encoders() {
  static const NamedTable<Encoder> table("encoder", {{"none", Encoder::kNone},
                                                     {"linear", Encoder::kLinear},
                                                     {"embedding", Encoder::kEmbedding},
                                                     {"atom", Encoder::kAtom},
                                                     {"ast", Encoder::kAst}});
  return table;
}

const NamedTable<Readout>& readouts() {
  static const NamedTable<Readout> table(
      "readout", {{"mean", Readout::kMean}, {"sum", Readout::kSum}, {"max", Readout::kMax}});
  return table;
}

const NamedTable<Message>& messages() {
  static const NamedTable<Message> table(
      "message", {{"identity", Message::kIdentity}, {"relu", Message::kRelu}});
  return table;
}

const NamedTable<Norm>& norms() {
  static const NamedTable<Norm> table(
      "norm", {{"batch", Norm::kBatch}, {"layer", Norm::kLayer}, {"none", Norm::kNone}});
  return table;
}

namespace {

using Json = nlohmann::ordered_json;

struct DropoutPlace {
  const char* name;
  bool DropoutAt::*at;
};
constexpr DropoutPlace kPlaces[] = {{"encoder", &DropoutAt::encoder},
                                    {"conv-input", &DropoutAt::conv_input},
                                    {"activation", &DropoutAt::activation},
                                    {"head", &DropoutAt::head}};

// The options that only some layers take.
template <class F>
void visit_layer_options(ModelConfig& c, F&& f) {
  f("heads", c.heads);
  f("bases", c.bases);
  f("aggregators", c.aggregators);
  f("self_loops", c.self_loops);
  f("activation", c.activation);
  f("message", c.message);
  f("towers", c.towers);
  f("mean_log_degree", c.mean_log_degree);
}

// Version 0.1 recorded its defaults of these for every layer.
void drop_recorded_defaults(ModelConfig& c, const nn::LayerDescriptor& layer) {
  const auto drop = [&](std::string_view name, auto& option, auto recorded) {
    if (!layer.takes(name) && option == recorded) option.reset();
  };
  drop("self_loops", c.self_loops, SelfLoops::kSymnorm);
  drop("activation", c.activation, nn::WeightActivation::kIdentity);
  drop("towers", c.towers, int64_t{4});
}

// Neither had an effect there.
void drop_not_taken(ModelConfig& c, const nn::LayerDescriptor& layer) {
  visit_layer_options(c, [&](const char* name, auto& option) {
    if (!layer.takes(name)) option.reset();
  });
  if (!is_graph_task(c.task) || c.task == Task::kGraphSequence) c.dropout_at.head = false;
  if (c.task == Task::kNodeClassificationHetero)
    c.dropout_at.encoder = c.dropout_at.conv_input = false;
}

// The one list of fields.
template <class Visitor, class Config>
void visit(Visitor& v, Config& c) {
  using F = ConfigField;
  v(F{"task", kOfDataset}, word<Task, tasks>(c.task));
  v(F{"model", kOfDataset}, c.model);
  v(F{"hidden", "Hidden width of the layers"}, c.hidden);
  v(F{"layers", "Number of layers"}, c.layers);
  v(F{"outputs", kOfDataset}, c.outputs);
  v(F{"encoder",
      "Encoder of the node features: none, linear, embedding, atom or ast (default: by kind of "
      "feature)"},
    word<Encoder, encoders>(c.encoder));
  v(F{"features", kOfDataset}, c.features);
  v(F{"categories", kOfDataset}, c.categories);
  v(F{"edge_features", "Use the features of edges, in every layer"}, c.edge_features);
  v(F{"edge_categories", kOfDataset}, c.edge_categories);
  v(F{"edge_numbers", kOfDataset}, c.edge_numbers);
  v(F{"encode",
      "Encodings of nodes by their place in the graph, added to the encoder's result: rwse:K "
      "(random walks), laplacian:K (eigenvectors), degree; for instance rwse:20,degree"},
    c.encode);
  v(F{"heads", "Number of heads"}, c.heads);
  v(F{"bases", "Number of bases"}, c.bases);
  v(F{"aggregators", "Aggregators, for instance add,std,max"}, c.aggregators);
  v(F{"self_loops", "Self-loops: all, symnorm or none"},
    Word<std::optional<SelfLoops>>{
        c.self_loops, [](std::string_view n) { return std::optional(parse_self_loops(n)); },
        [](std::optional<SelfLoops> l) { return egc::name_of(*l); }});
  v(F{"activation",
      "Activation of the combination weights: identity, softmax, sigmoid or hardtanh"},
    Word<std::optional<nn::WeightActivation>>{
        c.activation,
        [](std::string_view n) { return std::optional(nn::parse_weight_activation(n)); },
        [](std::optional<nn::WeightActivation> a) { return egc::name_of(*a); }});
  v(F{"message", "Messages with edge features: relu (of node plus edge) or identity"},
    Word<std::optional<Message>>{c.message,
                                 [](std::string_view n) { return std::optional(messages().at(n)); },
                                 [](std::optional<Message> m) { return messages().name_of(*m); }});
  v(F{"towers", "Number of towers"}, c.towers);
  v(F{"mean_log_degree", kOfDataset}, c.mean_log_degree);
  v(F{"norm", "Norm after every layer: batch, which true means too, layer, or none"}, c.norm);
  v(F{"norm_momentum",
      "How far a batch moves the running statistics of batch norm, in (0, 1]; small values give "
      "steadier scores where rare nodes have extreme values"},
    c.norm_momentum);
  v(F{"residual", "Residual connection around every layer"}, c.residual);
  v(F{"feed_forward",
      "Feed-forward sublayer after every layer, with residual and norm: its width as a multiple of "
      "--hidden, usually 2; 0 has none"},
    c.feed_forward);
  v(F{"virtual_node",
      "Virtual node of each graph, for graph tasks: all its nodes read and change it"},
    c.virtual_node);
  v(F{"dropout", "Dropout probability"}, c.dropout);
  v(F{"dropout_at", "Where dropout is applied: encoder, conv-input, activation, head"},
    c.dropout_at);
  v(F{"readout", "Readout of graph tasks: mean, sum or max over the nodes"},
    word<Readout, readouts>(c.readout));
  v(F{"head_layers",
      "Linear layers of the head of graph tasks, each half as wide as the one before"},
    c.head_layers);
  v(F{"head_norm", "Batch norm between the linear layers of the head of graph tasks"}, c.head_norm);
  v(F{"sequence_length", kOfDataset}, c.sequence_length);
  v(F{"node_types", kOfDataset}, c.schema.node_types);
  v(F{"relations", kOfDataset}, c.schema.relations);
  v(F{"target_type", kOfDataset}, c.target_type);
  v(F{"embedded_nodes", kOfDataset}, c.embedded_nodes);
}

class Reader : public JsonReader {
 public:
  using JsonReader::JsonReader;
  using JsonReader::operator();

  void operator()(const ConfigField& field, std::optional<AggregatorSet>& to) {
    const char* key = field.key;
    std::vector<std::string> names;
    if (!read(key, names)) return;
    try {
      to = parse_aggregators(names);
    } catch (const Error& e) {
      fail_at(key, "is invalid: {}", e.what());
    }
  }
  void operator()(const ConfigField& field, DropoutAt& to) {
    const char* key = field.key;
    std::vector<std::string> names;
    if (!read(key, names)) return;
    try {
      to = parse_dropout_at(names);
    } catch (const Error& e) {
      fail_at(key, "is invalid: {}", e.what());
    }
  }
  void operator()(const ConfigField& field, Norm& to) {
    const char* key = field.key;
    Json value;
    if (!read(key, value)) return;
    if (value.is_boolean()) {
      to = value.get<bool>() ? Norm::kBatch : Norm::kNone;
      return;
    }
    if (!value.is_string())
      fail_at(key, "must be true or false, or a name: {}, got {}", fmt::join(norms().names(), ", "),
              value.dump());
    (*this)(field, word<Norm, norms>(to));
  }
  // [["writes", "author", "paper"], ...]
  void operator()(const ConfigField& field, std::vector<HeteroSchema::Relation>& to) {
    const char* key = field.key;
    std::vector<std::vector<std::string>> triples;
    std::vector<std::string> types;
    if (!read(key, triples)) return;
    read("node_types", types);
    to.clear();
    for (const auto& t : triples) {
      if (t.size() != 3) fail_at(key, "must be a list of [name, source type, target type]");
      const auto index = [&](const std::string& type) {
        for (size_t k = 0; k < types.size(); ++k)
          if (types[k] == type) return static_cast<int64_t>(k);
        fail_at(key, "names \"{}\", which is not in node_types", type);
      };
      to.push_back({t[0], index(t[1]), index(t[2])});
    }
  }
};

class Writer {
 public:
  explicit Writer(const ModelConfig& config) : config_(config) {}

  template <class Value>
  void operator()(const ConfigField& field, const Value& value) {
    json[field.key] = value;
  }
  template <class Value>
  void operator()(const ConfigField& field, const std::optional<Value>& value) {
    if (value) json[field.key] = *value;
  }
  template <class Value>
  void operator()(const ConfigField& field, const std::vector<Value>& values) {
    if (!values.empty()) json[field.key] = values;
  }
  template <class Value>
  void operator()(const ConfigField& field, const Word<Value>& from) {
    json[field.key] = std::string(from.name(from.value));
  }
  template <class Value>
  void operator()(const ConfigField& field, const Word<std::optional<Value>>& from) {
    if (from.value) json[field.key] = std::string(from.name(from.value));
  }
  void operator()(const ConfigField& field, const std::optional<AggregatorSet>& set) {
    if (!set) return;
    json[field.key] = Json::array();
    for (const Aggregator a : *set) json[field.key].push_back(std::string(egc::name_of(a)));
  }
  // As versions that knew batch norm alone wrote it.
  void operator()(const ConfigField& field, const Norm& norm) {
    if (norm == Norm::kLayer)
      json[field.key] = std::string(norms().name_of(norm));
    else
      json[field.key] = norm == Norm::kBatch;
  }
  void operator()(const ConfigField& field, const DropoutAt& at) {
    json[field.key] = Json::array();
    for (const DropoutPlace& place : kPlaces)
      if (at.*place.at) json[field.key].push_back(place.name);
  }
  void operator()(const ConfigField& field, const std::vector<HeteroSchema::Relation>& relations) {
    if (relations.empty()) return;
    json[field.key] = Json::array();
    const auto& types = config_.schema.node_types;
    for (const auto& r : relations)
      json[field.key].push_back({r.name, types.at(r.source), types.at(r.target)});
  }

  Json json = Json::object();

 private:
  const ModelConfig& config_;
};

class Facts {
 public:
  template <class Value>
  void operator()(const ConfigField& f, const Word<Value>&) {
    add(f, FieldKind::kText);
  }
  void operator()(const ConfigField& f, const std::optional<AggregatorSet>&) {
    add(f, FieldKind::kList);
  }
  void operator()(const ConfigField& f, const DropoutAt&) { add(f, FieldKind::kList); }
  void operator()(const ConfigField& f, const Norm&) { add(f, FieldKind::kSwitchOrText); }
  template <class Value>
  void operator()(const ConfigField& f, const std::vector<Value>&) {
    add(f, FieldKind::kList);
  }
  template <class Value>
  void operator()(const ConfigField& f, const std::optional<Value>&) {
    add(f, kind_of<Value>());
  }
  template <class Value>
  void operator()(const ConfigField& f, const Value&) {
    add(f, kind_of<Value>());
  }

  std::vector<FieldFacts> all;

 private:
  void add(const ConfigField& f, FieldKind kind) { all.push_back(facts_of(f, kind)); }
};

ModelConfig from_json(const Json& json, const std::string& where, UnsupportedOptions not_taken) {
  ModelConfig config;
  Reader reader(json, where);
  visit(reader, config);
  reader.refuse_unknown();
  try {
    const nn::LayerDescriptor& layer = nn::layer_descriptor(config.model);
    drop_recorded_defaults(config, layer);
    if (not_taken == UnsupportedOptions::kDrop) drop_not_taken(config, layer);
    check_config(config);
  } catch (const Error& e) {
    fail(e.kind(), "{}: {}", where, e.what());
  }
  return config;
}

}  // namespace

std::vector<FieldFacts> config_fields() {
  Facts facts;
  ModelConfig config;
  visit(facts, config);
  visit_layer_options(config, [&](const char* name, const auto& /*option*/) {
    for (FieldFacts& f : facts.all)
      if (f.key == name)
        for (const nn::LayerDescriptor& layer : nn::layer_table())
          if (layer.takes(name)) f.layers.emplace_back(layer.name);
  });
  return facts.all;
}

void override_fields(ModelConfig& config, const std::string& json_text) {
  const Json json = Json::parse(json_text);
  Reader reader(json, "");
  visit(reader, config);
  reader.refuse_unknown();
}

DropoutAt parse_dropout_at(const std::vector<std::string>& places) {
  DropoutAt out;
  for (const std::string& name : places) {
    const auto place = std::find_if(std::begin(kPlaces), std::end(kPlaces),
                                    [&](const DropoutPlace& p) { return name == p.name; });
    check(place != std::end(kPlaces),
          "unknown place \"{}\"; known: encoder, conv-input, activation, head", name);
    out.*place->at = true;
  }
  return out;
}

ModelConfig parse_model_config(const std::string& json_text, const std::string& where,
                               UnsupportedOptions not_taken) {
  return from_json(parse_json<Json>(json_text, where, ErrorKind::kUsage), where, not_taken);
}

void set_layer(ModelConfig& config, const std::string& layer) {
  config.model = layer;
  visit_layer_options(config, [](const char*, auto& option) { option.reset(); });
}

std::string to_json(const ModelConfig& config) {
  Writer writer(config);
  ModelConfig copy = config;  // the list of fields is one for reading and writing
  visit(writer, copy);
  return writer.json.dump();
}

namespace {

void check_ranges(const ModelConfig& c) {
  const auto in_range = [](const char* name, int64_t value, int64_t least, int64_t most) {
    check(value >= least && value <= most, "{} must be from {} to {}, got {}", name, least, most,
          value);
  };
  in_range("hidden", c.hidden, 1, nn::kMaxChannels);
  in_range("layers", c.layers, 1, 4096);
  in_range("outputs", c.outputs, 1, nn::kMaxChannels);
  in_range("feed_forward", c.feed_forward, 0, nn::kMaxChannels / c.hidden);
  in_range("towers", c.towers.value_or(1), 1, nn::kMaxChannels);
  in_range("sequence_length", c.sequence_length, 1, 1 << 16);
  in_range("features", c.features, 0, nn::kMaxChannels);
  in_range("heads", c.heads.value_or(1), 1, nn::kMaxChannels);
  in_range("bases", c.bases.value_or(1), 1, nn::kMaxChannels);
  for (const int64_t n : c.categories) in_range("categories", n, 1, 1 << 30);
  for (const int64_t n : c.edge_categories) in_range("edge_categories", n, 1, 1 << 30);
  in_range("edge_numbers", c.edge_numbers, 0, nn::kMaxChannels);
  for (const int64_t n : c.embedded_nodes) in_range("embedded_nodes", n, 0, int64_t{1} << 31);
  check(c.norm_momentum > 0 && c.norm_momentum <= 1, "norm_momentum must be in (0, 1], got {}",
        c.norm_momentum);
  check(c.dropout >= 0 && c.dropout < 1, "dropout must be in [0, 1), got {}", c.dropout);
  const double degree = c.mean_log_degree.value_or(1.0);
  check(degree > 0 && std::isfinite(degree), "mean_log_degree must be positive, got {}", degree);
}

bool takes_floats(const ModelConfig& c) {
  return c.encoder == Encoder::kLinear || c.encoder == Encoder::kNone;
}

void check_encoder(const ModelConfig& c) {
  if (takes_floats(c))
    check(c.features >= 1 && c.categories.empty(),
          "encoder \"linear\" or \"none\" needs float features only, got {} float and {} "
          "categorical features",
          c.features, c.categories.size());
  else
    check(!c.categories.empty() && c.features == 0,
          "encoder \"embedding\", \"atom\" or \"ast\" needs categorical features only, got {} "
          "categorical and {} float features",
          c.categories.size(), c.features);
  const bool of_nodes = c.task == Task::kNodeClassification;
  check(of_nodes || c.task == Task::kNodeClassificationHetero || c.encoder != Encoder::kNone,
        "a graph-level task needs an encoder other than \"none\"");
  if (of_nodes && c.encoder == Encoder::kNone)
    check(c.outputs <= c.hidden && !c.residual,
          "without an encoder the first columns of the last layer are the outputs: outputs must be "
          "at most hidden, got {} and {}, and residual must be false",
          c.outputs, c.hidden);
}

void check_edges(const ModelConfig& c) {
  const bool has_schema = !c.edge_categories.empty() || c.edge_numbers > 0;
  if (!c.edge_features) {
    check(!has_schema, "edge_categories and edge_numbers need edge_features");
    check(!c.message, "message needs edge_features: without them messages are the neighbours'");
    return;
  }
  std::vector<std::string_view> known;
  for (const nn::LayerDescriptor& layer : nn::layer_table())
    if (layer.takes_edges) known.push_back(layer.name);
  check(nn::layer_descriptor(c.model).takes_edges,
        "{} does not take edge features; layers that do: {}", c.model, fmt::join(known, ", "));
  check(has_schema, "edge_features needs edges with features: edge_categories or edge_numbers");
}

void check_encode(const ModelConfig& c) {
  if (parse_encodings(c.encode).empty()) return;
  check(c.task != Task::kNodeClassificationHetero,
        "encode needs graphs with a single node type, which the task {} does not have",
        tasks().name_of(c.task));
  check(c.encoder != Encoder::kNone,
        "encode needs an encoder to be added to: encoder \"linear\" instead of \"none\"");
}

void check_types(const ModelConfig& c) {
  if (c.task == Task::kNodeClassificationHetero) {
    check_schema(c.schema);
    check(nn::layer_descriptor(c.model).is_typed,
          "a heterogeneous task needs the model rgcn or regc, got {}", c.model);
    check(takes_floats(c), "a heterogeneous task needs the encoder \"linear\" or \"none\"");
    check(c.embedded_nodes.size() == c.schema.node_types.size(),
          "embedded_nodes must have one number for each of the {} node types, got {}",
          c.schema.node_types.size(), c.embedded_nodes.size());
    bool found = false;
    for (const std::string& type : c.schema.node_types) found = found || type == c.target_type;
    check(found, "target_type \"{}\" is not in node_types", c.target_type);
  } else {
    check(c.schema.node_types.empty() && c.schema.relations.empty() && c.target_type.empty() &&
              c.embedded_nodes.empty(),
          "node_types, relations, target_type and embedded_nodes need the task "
          "node-classification-hetero");
  }
}

void check_ga_mlp(const ModelConfig& c) {
  if (c.model != "ga-mlp") return;
  if (c.aggregators)
    check(c.aggregators->size() == 1 &&
              (c.aggregators->has(Aggregator::kSymnorm) || c.aggregators->has(Aggregator::kAdd)),
          "ga-mlp takes one aggregator, symnorm or add");
  check(c.readout == Readout::kMean && is_graph_task(c.task),
        "ga-mlp needs a graph-level task and the readout \"mean\"");
  check(c.norm == Norm::kBatch, "ga-mlp always has batch norm: norm must be true");
  check(c.dropout == 0 || !(c.dropout_at.conv_input || c.dropout_at.head),
        "ga-mlp has neither convolutions nor a head: dropout_at takes encoder and activation");
}

void check_dropout(const ModelConfig& c) {
  const bool hetero = c.task == Task::kNodeClassificationHetero;
  const bool words = c.task == Task::kGraphSequence;
  check(c.dropout == 0 || !c.dropout_at.head || (is_graph_task(c.task) && !words),
        "the head for the task {} has no dropout: dropout_at takes encoder, conv-input and "
        "activation",
        tasks().name_of(c.task));
  check(c.dropout == 0 || !hetero || !(c.dropout_at.encoder || c.dropout_at.conv_input),
        "networks for heterogeneous tasks have dropout after every ReLU only: dropout_at takes "
        "activation");
}

// Whether the head is an MLP, and not one linear layer.
bool has_mlp_head(const ModelConfig& c) {
  return is_graph_task(c.task) && c.task != Task::kGraphSequence && c.model != "ga-mlp";
}

void check_norm(const ModelConfig& c) {
  if (c.norm != Norm::kLayer) return;
  check(c.task != Task::kNodeClassificationHetero,
        "norm \"layer\" does not apply to networks for heterogeneous tasks, which have no norm");
  check(
      c.encoder != Encoder::kNone || c.layers > 1,
      "norm \"layer\" needs an encoder or two layers: without an encoder nothing follows the last "
      "layer");
}

void check_virtual_node(const ModelConfig& c) {
  if (!c.virtual_node) return;
  check(is_graph_task(c.task),
        "virtual_node applies to graph-level tasks only, not to {}: it is a node of each graph",
        tasks().name_of(c.task));
  check(c.model != "ga-mlp", "virtual_node does not apply to ga-mlp, which has no layers");
  check(c.layers > 1, "virtual_node needs two layers: it changes between the layers");
}

void check_blocks(const ModelConfig& c) {
  if (c.feed_forward == 0) return;
  check(c.task != Task::kNodeClassificationHetero,
        "feed_forward does not apply to networks for heterogeneous tasks");
  check(c.model != "ga-mlp", "feed_forward does not apply to ga-mlp, which has no layers");
  check(c.encoder != Encoder::kNone || c.layers > 1,
        "feed_forward needs an encoder or two layers: without an encoder nothing follows the last "
        "layer");
}

void check_head(const ModelConfig& c) {
  constexpr int64_t kMost = 12;
  check(c.head_layers >= 1 && c.head_layers <= kMost, "head_layers must be from 1 to {}, got {}",
        kMost, c.head_layers);
  check(c.head_norm || (has_mlp_head(c) && c.head_layers > 1),
        "head_norm false needs a head of several linear layers");
  check(has_mlp_head(c) || c.head_layers == ModelConfig().head_layers,
        "head_layers does not apply to {} with the task {}: the head is one linear layer", c.model,
        tasks().name_of(c.task));
  check(c.dropout == 0 || !c.dropout_at.head || c.head_layers > 1,
        "a head with head_layers 1 has no dropout: dropout_at takes encoder, conv-input and "
        "activation");
}

}  // namespace

void check_config(const ModelConfig& c) {
  nn::layer_descriptor(c.model);
  ModelConfig options = c;  // the list of options is one for reading and writing
  visit_layer_options(options, [&](const char* name, const auto& option) {
    if (option) nn::check_takes(c.model, name, name);
  });
  check_ranges(c);
  check_encoder(c);
  check_edges(c);
  check_encode(c);
  check_types(c);
  check_ga_mlp(c);
  check_dropout(c);
  check_norm(c);
  check_blocks(c);
  check_virtual_node(c);
  check_head(c);
}

}  // namespace egc::models
