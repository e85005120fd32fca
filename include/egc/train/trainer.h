// The training loop, without files and without output.
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

// Throws kUsage unless the dataset has the monitored metric, and sampling and penalties apply to
// the network.
void check_training(const RunConfig& config, const data::DatasetInfo& info);

// Throws kUsage unless a process group can train the network on the dataset.
void check_group_training(const RunConfig& config, const data::Dataset& dataset, int64_t processes);

// Trains a network on a dataset.
//
// All randomness (initial values, order, dropout) is a function of seed, epoch and batch, so a run
// can stop after any batch and resume bit-for-bit.
class Trainer {
 public:
  // `data` and `group` must outlive it. Throws kUsage unless network and dataset fit. In a process
  // group every rank computes a share of each batch, and all have the same parameters after each
  // step: those of one process, up to rounding.
  Trainer(const TaskData& data, const RunConfig& config,
          distributed::ProcessGroup* group = nullptr);

  // The state after a batch.
  struct Step {
    int64_t epoch = 0;    // counted from 1
    int64_t batch = 0;    // batches of this epoch that are done
    int64_t batches = 0;  // per epoch
    double loss = 0;      // mean of the epoch so far; in a process group without this batch
  };
  using OnStep = std::function<bool(const Step&)>;  // called after each batch; false stops there

  // Trains and validates one epoch, or the rest of one. Returns false if on_step stopped it. Throws
  // kVerification where the loss is NaN; the trainer must not be used afterwards.
  bool run_epoch(const OnStep& on_step);
  // By number of epochs, early stopping or learning rate.
  bool finished() const { return is_finished(progress_, config_.train); }

  const RunConfig& config() const { return config_; }     // as given
  const TaskData& data() const { return data_; }          // as given
  const Progress& progress() const { return progress_; }  // epochs and best epoch so far
  models::Network& network() { return *network_; }        // in its current state
  // The network of the best epoch so far.
  models::Network& best() { return *best_; }
  // Whether the last epoch was the best.
  bool last_was_best() const { return progress_.best_epoch == progress_.epochs_done(); }

  // Everything that a checkpoint stores.
  struct State {
    egc::State tensors;  // parameters, optimizer, best network
    Progress progress;   // figures and position
  };
  State state() const;  // for a checkpoint
  // Resumes; `where` names the source in errors.
  void load(const State& state, const std::string& where);
  // In a process group: takes over the state of rank 0.
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
