#include "egc/train/default_config.h"

#include <algorithm>

#include "egc/core/error.h"
#include "egc/core/layer_options.h"
#include "egc/data/splits.h"
#include "egc/data/standardize.h"
#include "egc/data/training_edges.h"

namespace egc::train {
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

}  // namespace

models::ModelConfig default_config(const data::Dataset& d, const std::string& model,
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

namespace {

// Nodes of one graph with few labels, for instance 20 of a class: what overfits is kept small. The
// features go straight into the first of two layers, half of them and of the hidden values drop
// out, and weights decay. Layers with towers need an encoder, which makes the width divisible, and
// so do standardised features, which exports take along in it.
void suit_few_labels(models::ModelConfig& m, TrainConfig& t, bool scaled) {
  constexpr int64_t kHidden = 64;
  constexpr int64_t kUnit = 8;  // of heads
  m.hidden = std::max(kHidden, (m.outputs + kUnit - 1) / kUnit * kUnit);
  m.layers = 2;
  m.norm = false;
  m.residual = false;
  if (m.encoder == Encoder::kLinear && !scaled && !layer_traits(m.model).takes("towers"))
    m.encoder = Encoder::kNone;
  m.dropout = 0.5;
  m.dropout_at = {.encoder = true, .activation = true};
  t.lr = 0.01;
  t.wd = 2e-3;
}

// Nodes of one graph with many labels: a deeper network with batch norm and residuals.
void suit_many_labels(models::ModelConfig& m, TrainConfig& t) {
  m.dropout = 0.5;
  m.dropout_at = {.activation = true};
  t.lr = 0.01;
  t.wd = 5e-4;
}

}  // namespace

RunConfig default_run(const data::Dataset& d, const std::string& model, const std::string& split) {
  RunConfig run;
  models::ModelConfig& m = run.model;
  TrainConfig& t = run.train;
  m = default_config(d, model);
  // A part of a graph may be without validation nodes, and with too few to take some from.
  const bool is_part = !d.checksum_of_whole.empty();
  const data::Split parts = is_part ? d.split(split) : data::with_valid(d, split);
  if (m.task == Task::kNodeClassificationHetero) {
    m.norm = m.residual = false;  // its networks have neither
    return run;
  }
  if (d.splits_nodes()) {
    // One step an epoch: a score of few validation nodes moves by chance, and batch norm's running
    // statistics need some fifty steps before validation means anything.
    t.epochs = 400;
    t.early_stop = 100;
    const int64_t labels = parts.train.size();
    constexpr int64_t kFewOfAClass = 40;
    if (labels <= std::max(m.features, kFewOfAClass * m.outputs))
      suit_few_labels(m, t, data::has_raw_numbers(d.info));
    else
      suit_many_labels(m, t);
    return run;
  }
  // Patience is counted in epochs, what it waits for are steps.
  constexpr int64_t kSteps = 600;
  const int64_t steps = std::max<int64_t>(1, (parts.train.size() + t.batch - 1) / t.batch);
  t.early_stop = std::clamp<int64_t>(kSteps / steps, 20, 100);
  t.lr_patience = std::max<int64_t>(10, t.early_stop / 4);
  if (t.early_stop > 20) t.epochs = 500;
  return run;
}

void check_fits(const models::ModelConfig& c, const data::Dataset& d) {
  const std::string& name = d.info.name;
  check(c.task == d.info.task, "{} has the task {}, the network {}", name,
        tasks().name_of(d.info.task), tasks().name_of(c.task));
  if (d.info.task == Task::kNodeClassificationHetero) {
    const auto same = default_config(d, c.model, c.hidden);
    check(c.schema == same.schema, "{} has other node types or relations than the network", name);
    check(c.target_type == same.target_type, "{} has labels of {}, the network classifies {}", name,
          same.target_type, c.target_type);
    check(c.embedded_nodes == same.embedded_nodes,
          "{} needs embeddings of {} nodes of its types, the network has {}", name,
          fmt::join(same.embedded_nodes, ", "), fmt::join(c.embedded_nodes, ", "));
    check(d.info.node_features == data::FeatureKind::kNone || c.features == same.features,
          "{} has {} float features, the network takes {}", name, same.features, c.features);
    for (size_t t = 0; t < d.hetero.features.size(); ++t)
      check(d.hetero.features[t].columns() == 0 || d.hetero.features[t].columns() == same.features,
            "{} has {} features of {} and {} of another type, a network takes as many of all", name,
            d.hetero.features[t].columns(), d.hetero.schema.node_types[t], same.features);
    check(c.outputs == same.outputs, "{} has {} classes, the network gives {}", name, same.outputs,
          c.outputs);
    return;
  }
  const int64_t floats = d.node_features.empty() ? 1 : d.node_features.floats.columns;
  check(c.features == floats, "{} has {} float features, the network takes {}", name, floats,
        c.features);
  check(static_cast<int64_t>(c.categories.size()) == d.node_features.categories.columns,
        "{} has {} categorical features, the network takes {}", name,
        d.node_features.categories.columns, c.categories.size());
  for (size_t j = 0; j < c.categories.size(); ++j) {
    // Not the declared number of categories: published networks have 4 kinds of chirality, newer
    // OGB 5, and the data none of the fifth.
    int32_t largest = 0;
    for (int64_t i = 0; i < d.num_nodes(); ++i)
      largest = std::max(largest, d.node_features.categories.at(i, static_cast<int64_t>(j)));
    check(largest < c.categories[j] || (c.encoder == Encoder::kAst && j + 1 == c.categories.size()),
          "{} has the value {} in categorical feature {}, the network knows values below {}", name,
          largest, j, c.categories[j]);
  }
  const bool words = d.info.task == Task::kGraphSequence;
  const int64_t outputs = num_outputs(d);
  check(words || c.outputs == outputs, "{} has {} classes or targets, the network gives {}", name,
        outputs, c.outputs);
}

}  // namespace egc::train
