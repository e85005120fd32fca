#include "egc/train/trainer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "egc/core/error.h"
#include "egc/core/rng.h"
#include "egc/train/aggregator_penalty.h"
#include "egc/train/default_config.h"
#include "egc/train/sampling.h"

namespace egc::train {
namespace {

constexpr const char* kPrefixes[] = {"network.", "best.", "adam."};

// What a step draws (dropout, edges to drop) knows nothing of the steps before.
uint64_t seed_of_step(uint64_t seed, int64_t epoch, int64_t batch) {
  constexpr uint64_t kStream = 0x57E9;
  const auto words =
      Rng(seed, (static_cast<uint64_t>(epoch) << 16) + kStream).block(static_cast<uint64_t>(batch));
  return (uint64_t{words[0]} << 32) | words[1];
}

void copy_state(models::Network& to, const models::Network& from) {
  const at::NoGradGuard no_grad;
  const nn::State source = nn::state_of(from);
  for (auto& [name, tensor] : nn::state_of(to)) tensor.copy_(source.at(name));
}

// Of the epoch so far.
double mean_loss(const Progress& p) { return p.loss_items > 0 ? p.loss_sum / p.loss_items : 0; }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void check_training(const RunConfig& run, const data::DatasetInfo& info) {
  const TrainConfig& config = run.train;
  const std::string_view metric = data::metrics().name_of(info.metric);
  check(config.watch.empty() || config.watch == "loss" || config.watch == metric,
        "watch must be \"loss\" or \"{}\", the metric of {}, got \"{}\"", metric, info.name,
        config.watch);
  check(config.drop_nodes == 0 || info.task != Task::kNodeClassificationHetero,
        "drop_nodes is for graphs with one type of nodes");
  check(config.aggregator_sparsity == 0 || run.model.model.starts_with("egc"),
        "aggregator_sparsity is for networks of EGC layers, got {}", run.model.model);
}

void check_group_training(const RunConfig& run, const data::Dataset& dataset, int64_t processes) {
  if (!dataset.splits_nodes()) return;
  check(!dataset.checksum_of_whole.empty() || processes <= dataset.num_nodes(),
        "{}: {} processes cannot share {} nodes", dataset.info.name, processes,
        dataset.num_nodes());
  // Layers that read no more of another process than the rows of their sources.
  constexpr const char* kModels[] = {"egc", "egc-s", "egc-m", "gcn", "gin", "sage", "regc", "rgcn"};
  check(std::find(std::begin(kModels), std::end(kModels), run.model.model) != std::end(kModels),
        "several processes train one large graph with {}; {} is not among them",
        fmt::join(kModels, ", "), run.model.model);
  check(run.train.drop_edges == 0 && run.train.drop_nodes == 0,
        "drop_edges and drop_nodes are for one process, or for many graphs");
}

Trainer::Trainer(const TaskData& data, const RunConfig& config, distributed::Group* group)
    : data_(data), config_(config), group_(group) {
  check_config(config.train);
  check_training(config, data.dataset().info);
  if (group != nullptr) check_group_training(config, data.dataset(), group->size());
  if (config_.model.model == "pna" && !config_.model.mean_log_degree)
    config_.model.mean_log_degree = data.mean_log_degree();
  check_fits(config_.model, data.dataset());
  at::manual_seed(config.seed);
  network_ = models::make_network(config_.model);
  best_ = std::dynamic_pointer_cast<models::Network>(network_->clone());
  best_->eval();
  network_->train();
  adam_ = std::make_unique<Adam>(network_->parameters(),
                                 AdamOptions{.wd = config.train.wd, .clip = config.train.clip});
  if (group != nullptr)
    gradients_ = std::make_unique<distributed::GradientSum>(network_->parameters(), *group);
  batches_ =
      data.shuffled(Part::kTrain, config.train.batch, config.seed,
                    group == nullptr ? 0 : group->rank(), group == nullptr ? 1 : group->size());
  progress_.lr = config.train.lr;
}

bool Trainer::run_epoch(const OnStep& on_step) {
  if (!train_batches(on_step)) return false;
  validate();
  return true;
}

double Trainer::sum_over_ranks(double mine) {
  if (group_ == nullptr) return mine;
  double sum = 0;
  for (const at::Tensor& part : group_->gather(at::full({1}, mine, at::kDouble)))
    sum += part.item<double>();
  return sum;
}

// Ranks have different edges and nodes to drop.
Rng Trainer::rng_of(uint64_t step_seed) const {
  return group_ == nullptr ? Rng(step_seed) : Rng(step_seed, static_cast<uint64_t>(group_->rank()));
}

bool Trainer::train_batches(const OnStep& on_step) {
  const int64_t epoch = progress_.epochs_done() + 1;
  const Task task = data_.dataset().info.task;
  Progress& p = progress_;
  const auto start = std::chrono::steady_clock::now();
  const double seconds_before = p.seconds;
  batches_->begin(epoch, p.batches);
  while (auto whole = batches_->next()) {
    const uint64_t step_seed = seed_of_step(config_.seed, epoch, p.batches);
    at::manual_seed(step_seed);
    const BatchTensors batch = sample(*std::move(whole), config_.train, task, rng_of(step_seed));
    const at::Tensor loss = batch_loss(data_, network_->forward(batch.input), batch.target, group_);
    const double value = sum_over_ranks(loss.item<double>());
    const double items = sum_over_ranks(labelled_items(task, batch.target));
    if (!std::isfinite(value))
      fail(ErrorKind::kVerification,
           "training: the loss is {} in epoch {}, batch {} of {}; a lower learning rate than {} or "
           "--clip may help",
           value, epoch, p.batches + 1, batches_->num_batches(), p.lr);
    if (items > 0) {
      loss.backward();
      if (gradients_) gradients_->finish();
      if (config_.train.aggregator_sparsity > 0)
        add_aggregator_penalty(*network_, config_.train.aggregator_sparsity);
      adam_->step(p.lr);
    }
    ++p.batches;
    p.loss_sum += value * items;
    p.loss_items += items;
    p.seconds = seconds_before + seconds_since(start);
    const bool stop =
        on_step && !on_step({epoch, p.batches, batches_->num_batches(), mean_loss(p)});
    if (sum_over_ranks(stop ? 1 : 0) > 0) return false;
  }
  return true;
}

void Trainer::validate() {
  const auto start = std::chrono::steady_clock::now();
  Progress& p = progress_;
  EpochRecord record;
  record.epoch = p.epochs_done() + 1;
  record.train_loss = mean_loss(p);
  record.lr = p.lr;
  const Predictions predictions =
      predict_part(*network_, data_, Part::kValid, config_.train.batch, &record.valid_loss, group_);
  if (!std::isfinite(record.valid_loss))
    fail(ErrorKind::kVerification,
         "training: the loss of the valid part is {} after epoch {}; a lower learning rate than {} "
         "or --clip may help",
         record.valid_loss, record.epoch, p.lr);
  record.valid = predictions.score();
  record.seconds = p.seconds + seconds_since(start);
  const bool by_loss = config_.train.watch == "loss";
  const double watched = by_loss ? record.valid_loss : record.valid;
  const data::Metric metric = data_.dataset().info.metric;
  if (std::isnan(watched))
    fail(ErrorKind::kData,
         "training: {} of the valid part is not defined, {}; --watch loss trains without it",
         data::metrics().name_of(metric),
         predictions.size() == 0 ? "nothing in it has a label" : "its labels are all the same");
  if (finish_epoch(p, config_.train, record, watched, !by_loss && higher_is_better(metric)))
    copy_state(*best_, *network_);
}

Trainer::State Trainer::state() const {
  State out;
  out.progress = progress_;
  const nn::State parts[] = {nn::state_of(*network_), nn::state_of(*best_), adam_->state()};
  for (size_t k = 0; k < std::size(parts); ++k)
    for (const auto& [name, tensor] : parts[k]) out.tensors[kPrefixes[k] + name] = tensor;
  return out;
}

void Trainer::load(const State& state, const std::string& where) {
  nn::State parts[std::size(kPrefixes)];
  for (const auto& [name, tensor] : state.tensors) {
    bool known = false;
    for (size_t k = 0; k < std::size(kPrefixes); ++k) {
      const std::string prefix = kPrefixes[k];
      if (!name.starts_with(prefix)) continue;
      parts[k][name.substr(prefix.size())] = tensor;
      known = true;
    }
    if (!known) fail(ErrorKind::kModel, "{}: \"{}\" is no part of a checkpoint", where, name);
  }
  if (state.progress.batches > batches_->num_batches())
    fail(ErrorKind::kModel, "{}: {} batches of an epoch are done, there are only {}", where,
         state.progress.batches, batches_->num_batches());
  nn::load_state(*network_, parts[0], where);
  nn::load_state(*best_, parts[1], where);
  adam_->load(parts[2], where);
  progress_ = state.progress;
}

void Trainer::follow_first() {
  const at::NoGradGuard no_grad;
  State mine = state();
  mine.progress = parse_progress(group_->from_first(to_json(mine.progress)), "rank 0");
  for (auto& [name, tensor] : mine.tensors) group_->from_first(tensor);
  load(mine, "rank 0");
}

}  // namespace egc::train
