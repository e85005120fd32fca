// One training run of a directory, alone or with the other processes of its group.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "egc/app/loaded_dataset.h"
#include "egc/distributed/process_group.h"
#include "egc/train/run.h"

namespace egc::app {

// Where this process is in the group that its environment names; rank 0 has the files.
distributed::GroupAddress group_address();

struct TrainOutcome {
  bool interrupted = false;
  bool paused = false;  // there is no test score then
  uint64_t seed = 0;
  std::string dataset, model, metric;
  int64_t epochs = 0;
  int64_t best_epoch = 0;
  int64_t parameters = 0;
  double valid = 0;
  double test = 0;
  double seconds = 0;
};

using LoadDataset = std::function<LoadedDataset(const std::string& name)>;

// Begins or goes on; group: null where this process trains alone.
TrainOutcome train_run(const std::string& directory, const LoadDataset& load,
                       const train::RunLimits& limits, train::RunObserver& observer,
                       distributed::ProcessGroup* group = nullptr);

}  // namespace egc::app
