#include "egc/train/default_config.h"

#include <algorithm>

#include "egc/core/error.h"
#include "egc/data/splits.h"
#include "egc/data/standardize.h"
#include "egc/inference/dataset_fit.h"
#include "egc/nn/conv_table.h"

namespace egc::train {
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
  m.norm = models::Norm::kNone;
  m.residual = false;
  if (m.encoder == models::Encoder::kLinear && !scaled &&
      !nn::layer_descriptor(m.model).takes("towers"))
    m.encoder = models::Encoder::kNone;
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
  m = inference::config_for_dataset(d, model);
  // A part of a graph may be without validation nodes, and with too few to take some from.
  const bool is_part = !d.checksum_of_dataset.empty();
  const data::Split parts = is_part ? d.split(split) : data::with_valid(d, split);
  if (m.task == Task::kNodeClassificationHetero) {
    m.norm = models::Norm::kNone;  // its networks have neither this nor residuals
    m.residual = false;
    return run;
  }
  if (d.splits_nodes()) {
    // One step an epoch: a score of few validation nodes moves by chance, and batch norm's running
    // statistics need some fifty steps before validation means anything.
    t.epochs = 400;
    t.patience = 100;
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
  t.patience = std::clamp<int64_t>(kSteps / steps, 20, 100);
  t.lr_patience = std::max<int64_t>(10, t.patience / 4);
  if (t.patience > 20) t.epochs = 500;
  return run;
}

}  // namespace egc::train
