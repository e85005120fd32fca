// How far a run is, and what it decides by: learning rate on plateaus, the best epoch, early
// stopping. Plain numbers; a checkpoint keeps them as JSON, exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/train/epoch_record.h"
#include "egc/train/run_config.h"

namespace egc::train {

struct Progress {
  // Batches taken of the epoch after the last in `history`, and their losses.
  int64_t batches = 0;
  double loss_sum = 0;  // of the batches' mean losses, each times its items
  double loss_items = 0;
  double seconds = 0;  // of these batches

  double lr = 0;
  double plateau_best = 0;  // the learning rate's own idea of the best: gains below 1e-4 are none
  int64_t plateau_bad = 0;  // epochs without such a gain
  int64_t best_epoch = 0;   // 0: none yet
  double best = 0;          // the monitored value then

  std::vector<EpochRecord> history;

  int64_t epochs_done() const { return static_cast<int64_t>(history.size()); }
};

// After an epoch: appends the record and decides. `monitored` is the value of the monitored metric.
// True where the epoch is the best so far.
bool finish_epoch(Progress& progress, const TrainConfig& config, const EpochRecord& record,
                  double monitored, bool higher_is_better);

bool is_finished(const Progress& progress, const TrainConfig& config);

std::string to_json(const Progress& progress);
// Throws kModel with `where`.
Progress parse_progress(const std::string& json_text, const std::string& where);

// One epoch as the line of metrics.jsonl.
std::string to_json(const EpochRecord& record, uint64_t seed);

}  // namespace egc::train
