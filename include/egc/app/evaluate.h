// Scores of models on datasets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/data/dataset.h"

namespace egc::app {

// A score.
struct EvalResult {
  std::string metric;  // name
  double value = 0;    // NaN where it is undefined
  int64_t items = 0;   // number of labelled items
};

// Scores a model. models: files or runs; the predictions of several are averaged. part: train,
// valid or test. batch: graphs at a time; 0: as in training.
EvalResult evaluate_model(const std::vector<std::string>& models, const data::Dataset& dataset,
                          const std::string& part, int64_t batch);

}  // namespace egc::app
