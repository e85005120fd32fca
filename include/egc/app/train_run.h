// One training run in a directory, alone or as a rank of a process group.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "egc/app/loaded_dataset.h"
#include "egc/distributed/process_group.h"
#include "egc/train/run.h"

namespace egc::app {

// The rank of this process, from the environment; rank 0 of 1 without a launcher.
distributed::GroupAddress group_address();

// The outcome of a run, for reports.
struct TrainOutcome {
  bool interrupted = false;  // stopped early; scores are not set
  bool paused = false;       // at RunLimits::until; there is no test score yet
  uint64_t seed = 0;         // of the run
  std::string dataset;       // name
  std::string model;         // name of the layer
  std::string metric;        // name
  int64_t epochs = 0;        // trained
  int64_t best_epoch = 0;    // by the monitored value
  int64_t parameters = 0;    // number of trained values
  double valid = 0;          // metric on the validation set in the best epoch
  double test = 0;           // metric on the test set with that epoch's network
  double seconds = 0;        // training time
};

// Loads a dataset by name or path.
using LoadDataset = std::function<LoadedDataset(const std::string& name)>;

// Starts or resumes the run of a directory. group: null if this process trains alone.
TrainOutcome train_run(const std::string& directory, const LoadDataset& load,
                       const train::RunLimits& limits, train::RunObserver& observer,
                       distributed::ProcessGroup* group = nullptr);

}  // namespace egc::app
