// The progress of a run: learning rate schedule, best epoch and early stopping. A checkpoint stores
// it as JSON without loss of precision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/train/epoch_record.h"
#include "egc/train/run_config.h"

namespace egc::train {

// How far a run is and what its decisions depend on.
struct Progress {
  // Batches of the current epoch that are done.
  int64_t batches = 0;
  double loss_sum = 0;    // of those batches: mean loss times labelled items, added up
  double loss_items = 0;  // labelled items of those batches
  double seconds = 0;     // time of those batches

  double lr = 0;            // current learning rate; constant with the schedule "cosine"
  double plateau_best = 0;  // best value for the schedule; improvements below 1e-4 do not count
  int64_t plateau_bad = 0;  // epochs since then
  int64_t best_epoch = 0;   // counted from 1; 0: none yet
  double best = 0;          // monitored value of the best epoch

  std::vector<EpochRecord> history;  // all finished epochs

  // Number of finished epochs.
  int64_t epochs_done() const { return static_cast<int64_t>(history.size()); }
};

// Appends an epoch, updates the learning rate and the best epoch. `monitored` is the monitored
// value. Returns whether the epoch is the best so far.
bool finish_epoch(Progress& progress, const TrainConfig& config, const EpochRecord& record,
                  double monitored, bool higher_is_better);

// Whether the run has reached its last epoch or early stopping.
bool is_finished(const Progress& progress, const TrainConfig& config);

std::string to_json(const Progress& progress);  // for checkpoints
// The inverse of to_json(). Throws kModel, naming `where`.
Progress parse_progress(const std::string& json_text, const std::string& where);

// An epoch as a line of metrics.jsonl.
std::string to_json(const EpochRecord& record, uint64_t seed);

}  // namespace egc::train
