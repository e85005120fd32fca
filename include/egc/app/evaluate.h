// The score of a model on a part of a dataset.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::app {

struct EvalResult {
  std::string metric;
  double value = 0;
  int64_t items = 0;  // labelled ones
};

// models: files or runs, several for the mean of their predictions; part: train, valid or test;
// batch: graphs at a time, 0 as in training.
EvalResult evaluate_model(const std::vector<std::string>& models, const data::Dataset& dataset,
                          const std::string& part, int64_t batch);

}  // namespace egc::app
