#include "egc/inference/dataset_fit.h"

#include <algorithm>

#include "egc/core/error.h"
#include "egc/data/encodings.h"
#include "egc/data/training_edges.h"

namespace egc::inference {
namespace {

using models::Encoder;

int64_t num_outputs(const data::Dataset& d) {
  switch (d.info.task) {
    case Task::kGraphRegression:
    case Task::kGraphBinary:
      return d.info.num_targets;
    case Task::kGraphSequence:
      return 5002;  // 5,000 words, unknown, end
    default:
      return d.info.num_classes;
  }
}

std::string describe_edges(int64_t categorical, int64_t numbers) {
  if (categorical == 0 && numbers == 0) return "none";
  if (numbers == 0) return fmt::format("{} categorical", categorical);
  if (categorical == 0) return fmt::format("{} float", numbers);
  return fmt::format("{} categorical and {} float", categorical, numbers);
}

void check_edges(const models::ModelConfig& c, const data::Dataset& d) {
  if (!c.edge_features || d.num_edges() == 0) return;
  const data::Features& f = d.edge_features;
  const int64_t wanted = std::ssize(c.edge_categories);
  check(f.categories.columns == wanted && f.floats.columns == c.edge_numbers,
        "{}: the network takes these features of edges: {}; found {}", d.info.name,
        describe_edges(wanted, c.edge_numbers),
        describe_edges(f.categories.columns, f.floats.columns));
  for (int64_t j = 0; j < wanted; ++j) {
    for (int64_t e = 0; e < d.num_edges(); ++e)
      check(f.categories.at(e, j) < c.edge_categories[j],
            "{}: edge {} (line {} of its edge features) has the category {} in column {}, but the "
            "network takes categories below {}",
            d.info.name, e, e + 1, f.categories.at(e, j), j + 1, c.edge_categories[j]);
  }
}

}  // namespace

models::ModelConfig config_for_dataset(const data::Dataset& d, const std::string& model,
                                       int64_t hidden) {
  models::ModelConfig c;
  c.task = d.info.task;
  c.model = model;
  c.hidden = hidden;
  c.outputs = num_outputs(d);
  if (d.info.task == Task::kNodeClassificationHetero) {
    c.layers = 2;
    c.schema = training_schema(d);
    c.target_type = d.hetero.schema.node_types[d.hetero.target_type];
    for (size_t t = 0; t < d.hetero.num_nodes.size(); ++t) {
      c.embedded_nodes.push_back(d.hetero.num_embeddings(t));
      c.features = std::max(c.features, d.hetero.features[t].columns());
    }
    // Features may be thousands of columns wide, which learned embeddings had better not be.
    c.encoder = c.features > 0 ? Encoder::kLinear : Encoder::kNone;
    if (c.features == 0) c.features = hidden;
    return c;
  }
  if (d.info.node_features == data::FeatureKind::kCategorical) {
    c.categories = d.info.categories;
    c.encoder = !d.node_is_attributed.empty() ? Encoder::kAst
                : d.info.recipe == "ogb"      ? Encoder::kAtom
                                              : Encoder::kEmbedding;
  } else {
    c.features = std::max<int64_t>(1, d.node_features.columns());  // none: a constant
    c.encoder = Encoder::kLinear;
  }
  if (d.splits_nodes()) c.layers = 3;
  return c;
}

void fill_edge_schema(models::ModelConfig& c, const data::Dataset& d) {
  if (!c.edge_features || !c.edge_categories.empty() || c.edge_numbers > 0) return;
  const data::Features& f = d.edge_features;
  check(f.columns() > 0,
        "edge_features: {} has no features of edges; build it from a table of edges with further "
        "columns, or train without",
        d.info.name);
  if (f.categories.columns > 0) c.edge_categories = d.info.edge_categories;
  c.edge_numbers = f.floats.columns;
}

bool uses_edge_features(const models::ModelConfig& config) { return config.edge_features; }

data::Dataset seen_by(const models::ModelConfig& config, const data::Dataset& dataset) {
  if (uses_edge_features(config) || dataset.edge_features.empty()) return dataset;
  data::Dataset out = dataset;
  out.edge_features = {};
  return out;
}

void check_fits(const models::ModelConfig& c, const data::Dataset& d) {
  const std::string& name = d.info.name;
  check(c.task == d.info.task, "{} has the task {}, but the network was made for {}", name,
        tasks().name_of(d.info.task), tasks().name_of(c.task));
  if (d.info.task == Task::kNodeClassificationHetero) {
    const auto same = config_for_dataset(d, c.model, c.hidden);
    check(c.schema == same.schema, "{} does not have the network's node types and relations", name);
    check(c.target_type == same.target_type, "{} has labels for {}, but the network classifies {}",
          name, same.target_type, c.target_type);
    check(c.embedded_nodes == same.embedded_nodes,
          "{} needs embeddings of {} nodes of its types, but the network has {}", name,
          fmt::join(same.embedded_nodes, ", "), fmt::join(c.embedded_nodes, ", "));
    check(d.info.node_features == data::FeatureKind::kNone || c.features == same.features,
          "{} has {} float features, but the network takes {}", name, same.features, c.features);
    for (size_t t = 0; t < d.hetero.features.size(); ++t)
      check(d.hetero.features[t].columns() == 0 || d.hetero.features[t].columns() == same.features,
            "{} has {} features for {} and {} for another node type, but a network needs the same "
            "number for all",
            name, d.hetero.features[t].columns(), d.hetero.schema.node_types[t], same.features);
    check(c.outputs == same.outputs, "{} has {} classes, but the network outputs {}", name,
          same.outputs, c.outputs);
    return;
  }
  const int64_t floats = d.node_features.columns() == 0 ? 1 : d.node_features.floats.columns;
  check(c.features == floats, "{} has {} float features, but the network takes {}", name, floats,
        c.features);
  check(static_cast<int64_t>(c.categories.size()) == d.node_features.categories.columns,
        "{} has {} categorical features, but the network takes {}", name,
        d.node_features.categories.columns, c.categories.size());
  for (size_t j = 0; j < c.categories.size(); ++j) {
    // Not the declared number of categories: published networks have 4 kinds of chirality, newer
    // OGB 5, and the data none of the fifth.
    int32_t largest = 0;
    for (int64_t i = 0; i < d.num_nodes(); ++i)
      largest = std::max(largest, d.node_features.categories.at(i, static_cast<int64_t>(j)));
    check(largest < c.categories[j] || (c.encoder == Encoder::kAst && j + 1 == c.categories.size()),
          "{} has the value {} in categorical feature {}, but the network takes values below {}",
          name, largest, j, c.categories[j]);
  }
  check_edges(c, d);
  check(
      c.encoder != Encoder::kAst || d.node_is_attributed.size() == d.num_nodes(),
      "{} does not say which nodes have tokens (node_is_attributed), but the network takes syntax "
      "trees",
      name);
  data::check_can_encode(d, c.encode);
  const bool words = d.info.task == Task::kGraphSequence;
  const int64_t outputs = num_outputs(d);
  check(words || c.outputs == outputs, "{} has {} classes or targets, but the network outputs {}",
        name, outputs, c.outputs);
}

}  // namespace egc::inference
