#include "egc/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "egc/core/error.h"
#include "egc/core/rng.h"

#include "egc/inference/dataset_fit.h"
#include "egc/nn/conv_table.h"
#include "egc/train/aggregator_penalty.h"
#include "egc/train/encoding_signs.h"
#include "egc/train/sampling.h"
#include "egc/train/schedule.h"

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

std::string spell_loss(double loss) { return std::isnan(loss) ? "NaN" : "infinite"; }

// Of the epoch so far.
double mean_loss(const Progress& p) { return p.loss_items > 0 ? p.loss_sum / p.loss_items : 0; }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void check_training(const RunConfig& run, const data::DatasetInfo& info) {
  const TrainConfig& config = run.train;
  const std::string_view metric = data::metrics().name_of(info.metric);
  check(config.monitor.empty() || config.monitor == "loss" || config.monitor == metric,
        "monitor must be \"loss\" or \"{}\", the metric of {}, got \"{}\"", metric, info.name,
        config.monitor);
  check(config.drop_nodes == 0 || info.task != Task::kNodeClassificationHetero,
        "drop_nodes needs graphs with a single node type");
  check(config.aggregator_sparsity == 0 || run.model.model.starts_with("egc"),
        "aggregator_sparsity needs a network of EGC layers, got {}", run.model.model);
}

void check_group_training(const RunConfig& run, const data::Dataset& dataset, int64_t processes) {
  if (!dataset.splits_nodes()) return;
  check(!dataset.checksum_of_dataset.empty() || processes <= dataset.num_nodes(),
        "{}: {} ranks are more than its {} nodes", dataset.info.name, processes,
        dataset.num_nodes());
  // Layers that read no more of another process than the rows of their sources.
  constexpr const char* kModels[] = {"egc", "egc-s", "egc-m", "gcn", "gin", "sage", "regc", "rgcn"};
  check(std::find(std::begin(kModels), std::end(kModels), run.model.model) != std::end(kModels),
        "distributed training on one large graph supports the models {}, got {}",
        fmt::join(kModels, ", "), run.model.model);
  check(run.train.drop_edges == 0 && run.train.drop_nodes == 0,
        "drop_edges and drop_nodes are not supported in distributed training on one large graph");
}

Trainer::Trainer(const TaskData& data, const RunConfig& config, distributed::ProcessGroup* group)
    : data_(data), config_(config), group_(group) {
  check_config(config.train);
  check_training(config, data.dataset().info);
  if (group != nullptr) check_group_training(config, data.dataset(), group->size());
  if (nn::layer_descriptor(config_.model.model).takes("mean_log_degree") &&
      !config_.model.mean_log_degree)
    config_.model.mean_log_degree = data.mean_log_degree();
  inference::check_fits(config_.model, data.dataset());
  network_ = models::make_network(config_.model);
  Rng rng(config.seed);
  network_->reset_parameters(rng);
  best_ = models::copy_network(*network_);
  parameters_ = network_->parameters();
  adam_ = std::make_unique<Adam>(
      parameters_, AdamOptions{.wd = config.train.wd,
                               .decoupled = config.train.optimizer == Optimizer::kAdamW,
                               .clip = config.train.clip});
  if (group != nullptr) send_gradients_early();
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

void Trainer::send_gradients_early() {
  std::vector<int64_t> sizes;
  for (const nn::ParameterPtr& p : parameters_) sizes.push_back(p->value.size());
  gradients_ = std::make_unique<distributed::GradientSum>(sizes, *group_);
  for (size_t k = 0; k < parameters_.size(); ++k)
    parameters_[k]->value.gradient()->on_complete = [this, k, p = parameters_[k].get()] {
      const Tensor& g = p->grad();
      if (g.defined()) gradients_->ready(k, {g.data<float>(), static_cast<size_t>(g.size())});
    };
}

void Trainer::receive_gradients() {
  gradients_->finish([&](size_t k, std::span<const float> sum) {
    // Which parameters have a gradient is up to the network, the same on every rank.
    const Tensor& gradient = parameters_[k]->grad();
    if (gradient.defined()) std::copy(sum.begin(), sum.end(), gradient.data<float>());
  });
}

// In order of the ranks: the same bits on all of them.
std::vector<double> Trainer::sum_over_ranks(const std::vector<double>& mine) {
  if (group_ == nullptr) return mine;
  const std::vector<double> all = group_->gather(mine);
  std::vector<double> sum(mine.size(), 0.0);
  for (size_t k = 0; k < all.size(); ++k) sum[k % sum.size()] += all[k];
  return sum;
}

// Ranks have different edges and nodes to drop.
Rng Trainer::rng_of(uint64_t step_seed) const {
  return group_ == nullptr ? Rng(step_seed) : Rng(step_seed, static_cast<uint64_t>(group_->rank()));
}

double Trainer::train_batch(const BatchTensors& batch, uint64_t step_seed,
                            const std::vector<double>& counts) {
  Tape tape = Tape::training(step_seed);
  const Tensor output = network_->forward(tape, batch.input);
  const Loss loss = batch_loss(data_, output, batch.targets, counts);
  const double items = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (items == 0) return 0;
  if (gradients_) gradients_->begin();
  tape.backward(output, loss.gradient);
  if (gradients_) receive_gradients();
  if (config_.train.aggregator_sparsity > 0)
    add_aggregator_penalty(*network_, config_.train.aggregator_sparsity);
  adam_->step(learning_rate(config_.train, progress_, progress_.batches, batches_->num_batches()));
  return loss.value;
}

void Trainer::add_loss(double loss, double items) {
  Progress& p = progress_;
  if (!std::isfinite(loss))
    fail(ErrorKind::kVerification,
         "training: the loss is {} in epoch {}, batch {} of {}; try a learning rate below {} or "
         "--clip",
         spell_loss(loss), p.epochs_done() + 1, p.batches, batches_->num_batches(), p.lr);
  p.loss_sum += loss * items;
  p.loss_items += items;
}

// Ranks send one message before each step: the labels of their part of its batch, and how the step
// before went. So nobody waits for a loss, and a group hears of it one step later.
bool Trainer::train_batches(const OnStep& on_step) {
  const int64_t epoch = progress_.epochs_done() + 1;
  Progress& p = progress_;
  const auto start = std::chrono::steady_clock::now();
  const double seconds_before = p.seconds;
  batches_->begin(epoch, p.batches);
  double loss = 0;   // of the step before; of a group, this rank's share
  double items = 0;  // of all ranks
  bool stop = false;
  while (true) {
    const uint64_t step_seed = seed_of_step(config_.seed, epoch, p.batches);
    std::optional<BatchTensors> batch;
    std::vector<double> message = {loss, stop ? 1.0 : 0.0};
    if (auto whole = batches_->next()) {
      draw_signs(*whole, config_.model.encode, config_.seed, epoch);
      batch =
          sample(*std::move(whole), config_.train, data_.dataset().info.task, rng_of(step_seed));
      const std::vector<double> counts = batch_counts(data_, batch->targets);
      message.insert(message.end(), counts.begin(), counts.end());
    }
    const std::vector<double> all = sum_over_ranks(message);
    if (group_ != nullptr) add_loss(all[0], items);
    if (all[1] > 0) return false;
    if (!batch) return true;
    const std::vector<double> counts(all.begin() + 2, all.end());
    loss = train_batch(*batch, step_seed, counts);
    items = std::accumulate(counts.begin(), counts.end(), 0.0);
    ++p.batches;
    if (group_ == nullptr) add_loss(loss, items);
    p.seconds = seconds_before + seconds_since(start);
    stop = on_step && !on_step({epoch, p.batches, batches_->num_batches(), mean_loss(p)});
  }
}

void Trainer::validate() {
  const auto start = std::chrono::steady_clock::now();
  Progress& p = progress_;
  EpochRecord record;
  record.epoch = p.epochs_done() + 1;
  record.train_loss = mean_loss(p);
  record.lr = learning_rate(config_.train, p, p.batches - 1, batches_->num_batches());
  const Predictions predictions =
      predict_part(*network_, data_, Part::kValid, config_.train.batch, &record.valid_loss, group_);
  if (!std::isfinite(record.valid_loss))
    fail(ErrorKind::kVerification,
         "training: the validation loss is {} after epoch {}; try a learning rate below {} or "
         "--clip",
         spell_loss(record.valid_loss), record.epoch, p.lr);
  record.valid = predictions.score();
  record.seconds = p.seconds + seconds_since(start);
  const bool by_loss = config_.train.monitor == "loss";
  const double monitored = by_loss ? record.valid_loss : record.valid;
  const data::Metric metric = data_.dataset().info.metric;
  if (std::isnan(monitored))
    fail(ErrorKind::kData,
         "training: {} on the validation set is undefined because {}; use --monitor loss instead",
         data::metrics().name_of(metric),
         predictions.size() == 0 ? "none of its items has a label" : "all its labels are the same");
  if (finish_epoch(p, config_.train, record, monitored, !by_loss && higher_is_better(metric)))
    best_->copy_values(*network_);
}

Trainer::State Trainer::state() const {
  State out;
  out.progress = progress_;
  const egc::State parts[] = {network_->state(), best_->state(), adam_->state()};
  for (size_t k = 0; k < std::size(parts); ++k)
    for (const auto& [name, tensor] : parts[k]) out.tensors[kPrefixes[k] + name] = tensor;
  return out;
}

void Trainer::load(const State& state, const std::string& where) {
  egc::State parts[std::size(kPrefixes)];
  for (const auto& [name, tensor] : state.tensors) {
    bool known = false;
    for (size_t k = 0; k < std::size(kPrefixes); ++k) {
      const std::string prefix = kPrefixes[k];
      if (!name.starts_with(prefix)) continue;
      parts[k][name.substr(prefix.size())] = tensor;
      known = true;
    }
    if (!known) fail(ErrorKind::kModel, "{}: \"{}\" does not belong in a checkpoint", where, name);
  }
  if (state.progress.batches > batches_->num_batches())
    fail(ErrorKind::kModel, "{}: {} batches of the epoch are done, but it has only {}", where,
         state.progress.batches, batches_->num_batches());
  network_->load_state(parts[0], where);
  best_->load_state(parts[1], where);
  adam_->load(parts[2], where);
  progress_ = state.progress;
}

void Trainer::follow_first() {
  State mine = state();
  std::string progress = to_json(mine.progress);
  group_->broadcast(progress);
  mine.progress = parse_progress(progress, "rank 0");
  for (auto& [name, values] : mine.tensors) {
    const TensorView view = values.view();
    std::vector<std::byte> bytes(view.data.begin(), view.data.end());
    group_->broadcast(std::span(bytes));
    values = NdArray({view.dtype, view.shape, bytes});
  }
  load(mine, "rank 0");
}

}  // namespace egc::train
