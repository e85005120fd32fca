// Training a network on a dataset: the loop, without files and without a terminal.
//
// All randomness is a function of the seed, the epoch and the batch: initial values, the order of
// graphs, dropout. So a run can stop after any batch and go on elsewhere with the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "egc/core/rng.h"
#include "egc/distributed/gradient_sum.h"
#include "egc/models/network.h"
#include "egc/train/adam.h"
#include "egc/train/evaluate.h"
#include "egc/train/progress.h"
#include "egc/train/task_data.h"

namespace egc::train {

// Throws kUsage unless the dataset has the metric that the configuration monitors, and sampling
// and penalties are for such a network.
void check_training(const RunConfig& config, const data::DatasetInfo& info);

// Throws kUsage unless a group of processes can train such a network on the dataset.
void check_group_training(const RunConfig& config, const data::Dataset& dataset, int64_t processes);

class Trainer {
 public:
  // `data` and `group` must outlive it. Throws kUsage unless network and dataset fit. With a group
  // every rank has a part of each batch, and all of them the same network after every step: that of
  // one process, but for rounding.
  Trainer(const TaskData& data, const RunConfig& config,
          distributed::ProcessGroup* group = nullptr);

  // After each batch; false: stop there. The counts are of this epoch.
  struct Step {
    int64_t epoch = 0;
    int64_t batch = 0;
    int64_t batches = 0;
    double loss = 0;  // mean of the epoch so far; of a group, without this batch
  };
  using OnStep = std::function<bool(const Step&)>;

  // Trains and validates one epoch, or the rest of one; false where on_step stopped it. A loss that
  // is NaN throws, and leaves progress and parameters useless.
  bool run_epoch(const OnStep& on_step);
  bool finished() const { return is_finished(progress_, config_.train); }

  const RunConfig& config() const { return config_; }
  const TaskData& data() const { return data_; }
  const Progress& progress() const { return progress_; }
  models::Network& network() { return *network_; }
  // The network of the best epoch so far.
  models::Network& best() { return *best_; }
  bool last_was_best() const { return progress_.best_epoch == progress_.epochs_done(); }

  // Everything that a checkpoint keeps.
  struct State {
    egc::State tensors;
    Progress progress;
  };
  State state() const;
  void load(const State& state, const std::string& where);
  // Of a group: takes over what rank 0 has.
  void follow_first();

 private:
  bool train_batches(const OnStep& on_step);
  // The loss; of a group, this rank's share.
  double train_batch(const BatchTensors& batch, uint64_t step_seed,
                     const std::vector<double>& counts);
  void add_loss(double loss, double items);
  std::vector<double> sum_over_ranks(const std::vector<double>& mine);
  void send_gradients_early();
  void receive_gradients();
  Rng rng_of(uint64_t step_seed) const;
  void validate();

  const TaskData& data_;
  RunConfig config_;
  std::shared_ptr<models::Network> network_;
  std::shared_ptr<models::Network> best_;
  std::vector<nn::ParameterPtr> parameters_;
  std::unique_ptr<Adam> adam_;
  distributed::ProcessGroup* group_;
  std::unique_ptr<distributed::GradientSum> gradients_;  // of a group
  std::unique_ptr<BatchStream> batches_;
  Progress progress_;
};

}  // namespace egc::train
