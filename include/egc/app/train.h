// Training as `egc train` does it: new or resumed runs, for one seed or several.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "egc/app/create_runs.h"
#include "egc/app/session.h"
#include "egc/app/train_run.h"

namespace egc::app {

// What to train.
struct TrainRequest {
  TrainOptions options;          // dataset, network and training
  std::string out;               // directory; empty: `runs/<dataset>-<model>`
  std::string resume;            // directory of an interrupted run, instead of a dataset
  int64_t seeds = 1;             // number of seeds, from Session::seed on
  int64_t jobs = 1;              // seeds at a time, each in its own process
  bool overwrite = false;        // replace existing runs
  int64_t checkpoint_every = 1;  // epochs
  int64_t until = 0;             // epoch after which to pause; 0: none
};

// Callbacks of train().
class TrainProgress {
 public:
  virtual ~TrainProgress() = default;
  // Before the first epoch: the directory, and those of the runs, one per seed.
  virtual void on_runs(const std::string& /*directory*/, const std::vector<std::string>& /*runs*/) {
  }
  // Makes the observer of a run in this process.
  virtual std::unique_ptr<train::RunObserver> observe() {
    return std::make_unique<train::RunObserver>();
  }
  virtual void on_outcome(const TrainOutcome& /*outcome*/) {}  // after each run
  // For runs in their own processes: a JSON line about an epoch or the outcome.
  virtual void on_line(std::string_view /*line*/) {}
};

// What was trained.
struct TrainReport {
  std::string directory;               // of all runs
  std::vector<std::string> runs;       // their directories
  std::vector<TrainOutcome> outcomes;  // of each run; fewer if interrupted
};

// Trains. stop: nonzero ends training at the next batch with a checkpoint; `resume` continues it.
TrainReport train(const TrainRequest& request, const Session& session, TrainProgress& progress,
                  const volatile std::sig_atomic_t* stop = nullptr);

// Called after each epoch; false stops the run, which can be resumed.
using OnEpoch = std::function<bool(const train::EpochRecord& record)>;
// As above, with a function instead of callbacks. examples/train_network.cpp shows it.
TrainReport train(const TrainRequest& request, const Session& session, const OnEpoch& on_epoch);

std::string to_json(const TrainOutcome& outcome);  // for --json

}  // namespace egc::app
