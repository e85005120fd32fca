// An epoch of training, and where its time goes.
#pragma once

#include <cstdint>

#include "egc/app/create_runs.h"

namespace egc::bench {

// In seconds.
struct EpochBenchRow {
  double train_s = 0;
  double kernels = 0;  // of train_s: passes over graphs and rows,
  double gemm = 0;     // dense products,
  double other = 0;    // everything else
  double eval_s = 0;
  int64_t batches = 0;
  int64_t parameters = 0;
  double train_peak_mb = 0;  // what training added to the resident set at its peak
};

EpochBenchRow measure_epoch(const data::Dataset& dataset, const app::TrainOptions& options,
                            int reps);

}  // namespace egc::bench
