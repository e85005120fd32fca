// A training run in its directory: training, checkpoints, metrics and the model file.
#pragma once

#include <csignal>
#include <filesystem>

#include "egc/train/run_directory.h"
#include "egc/train/trainer.h"

namespace egc::train {

// Callbacks of a run.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_start(Trainer& /*trainer*/) {}  // before the first step
  // After each batch; false stops the run.
  virtual bool on_step(const Trainer::Step& /*step*/) { return true; }
  virtual void on_epoch(const EpochRecord& /*record*/, bool /*best*/) {}  // after each epoch
};

// The outcome of a run.
struct RunResult {
  bool interrupted = false;  // stopped early; the other fields are not set
  bool paused = false;       // at RunLimits::until; there is no test score yet
  int64_t epochs = 0;        // trained
  int64_t best_epoch = 0;    // by the monitored value
  double valid = 0;          // metric on the validation set in the best epoch
  double test = 0;           // metric on the test set with that epoch's network
  double seconds = 0;        // training time
  int64_t parameters = 0;    // number of trained values
};

// When a run writes checkpoints and when it stops.
struct RunLimits {
  int64_t checkpoint_every = 1;  // epochs
  int64_t until = 0;             // epoch after which to pause; 0: none
  // If it becomes nonzero, stop after this batch.
  const volatile std::sig_atomic_t* stop = nullptr;
};

// Trains, resuming from a checkpoint if there is one. Writes checkpoints every `checkpoint_every`
// epochs, at the end, at a pause, and when the observer or `stop` ends the run. In a process group
// only rank 0 has a directory; the others pass null.
RunResult run_training(const RunDirectory* dir, const TaskData& data, const RunConfig& config,
                       const RunLimits& limits, RunObserver& observer,
                       distributed::ProcessGroup* group = nullptr);

}  // namespace egc::train
