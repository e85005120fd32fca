// What making batches costs beside training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::bench {

// An epoch of training steps with batches that are ready, made ahead by a thread, or made in
// between.
struct LoaderBenchOptions {
  std::string model = "egc-m";
  int64_t hidden = 124;
  int64_t batch = 64;
  int64_t max_batches = 200;
  int reps = 5;
  uint64_t seed = 0;
};

struct LoaderBenchRow {
  std::string batches;   // ready, ahead, between; alone: made without training
  double ms_median = 0;  // of the epoch
  double ms_min = 0;
  int reps = 0;
};

struct LoaderBenchResult {
  int64_t batches = 0;
  std::vector<LoaderBenchRow> rows;
};

LoaderBenchResult measure_loader(const data::Dataset& dataset, const LoaderBenchOptions& options);

}  // namespace egc::bench
