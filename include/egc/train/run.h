// One training run in its directory: training, checkpoints, metrics, the model.
#pragma once

#include <csignal>
#include <filesystem>

#include "egc/train/run_directory.h"
#include "egc/train/trainer.h"

namespace egc::train {

// What goes on, for whoever watches.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_start(Trainer& /*trainer*/) {}
  virtual bool on_step(const Trainer::Step& /*step*/) { return true; }  // false: stop here
  virtual void on_epoch(const EpochRecord& /*record*/, bool /*best*/) {}
};

struct RunResult {
  bool interrupted = false;  // the rest is not there then
  bool paused = false;       // at RunLimits::until; there is no test score yet
  int64_t epochs = 0;
  int64_t best_epoch = 0;
  double valid = 0;  // the metric in the best epoch
  double test = 0;   // of that epoch's network
  double seconds = 0;
  int64_t parameters = 0;
};

struct RunLimits {
  int64_t checkpoint_every = 1;                      // epochs
  int64_t until = 0;                                 // the epoch to pause after; 0: none
  const volatile std::sig_atomic_t* stop = nullptr;  // set: stop after this batch
};

// Goes on from the checkpoint where there is one. Of a group rank 0 alone has a directory. A
// checkpoint is written after every `checkpoint_every` epochs, at the end, at a pause, and where
// the observer stops the run.
RunResult run_training(const RunDirectory* dir, const TaskData& data, const RunConfig& config,
                       const RunLimits& limits, RunObserver& observer,
                       distributed::ProcessGroup* group = nullptr);

}  // namespace egc::train
