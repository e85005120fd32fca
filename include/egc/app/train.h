// What `egc train` does: runs begun or resumed, for one seed or several, in turn or at once.
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

struct TrainRequest {
  TrainOptions options;
  std::string out;     // a directory; empty: runs/<dataset>-<model>
  std::string resume;  // a run that was stopped, instead of a dataset
  int64_t seeds = 1;   // from the session's on
  int64_t jobs = 1;    // seeds at a time, in processes of their own
  bool overwrite = false;
  int64_t checkpoint_every = 1;  // epochs
  int64_t until = 0;             // the epoch to pause after; 0: none
};

// What goes on, for whoever shows it.
class TrainProgress {
 public:
  virtual ~TrainProgress() = default;
  // Before the first epoch: where the runs are, one for each seed.
  virtual void on_runs(const std::string& /*directory*/, const std::vector<std::string>& /*runs*/) {
  }
  // Of a run in this process.
  virtual std::unique_ptr<train::RunObserver> observe() {
    return std::make_unique<train::RunObserver>();
  }
  virtual void on_outcome(const TrainOutcome& /*outcome*/) {}
  // Of a run in a process of its own: a JSON line about an epoch, or the outcome.
  virtual void on_line(std::string_view /*line*/) {}
};

struct TrainReport {
  std::string directory;
  std::vector<std::string> runs;
  std::vector<TrainOutcome> outcomes;  // fewer than runs where it was interrupted
};

// Runs begun by an earlier call go on with `resume`. stop: not 0: ends at the next checkpoint.
TrainReport train(const TrainRequest& request, const Session& session, TrainProgress& progress,
                  const volatile std::sig_atomic_t* stop = nullptr);

// The same with a function that sees every epoch; false ends the run there, resumable.
using OnEpoch = std::function<bool(const train::EpochRecord& record)>;
TrainReport train(const TrainRequest& request, const Session& session, const OnEpoch& on_epoch);

std::string to_json(const TrainOutcome& outcome);

}  // namespace egc::app
