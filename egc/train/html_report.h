// A run as one page: scores, curves, mistakes, data, configuration. Self-contained; light and dark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/report/html.h"
#include "egc/train/epoch_record.h"
#include "egc/train/evaluate.h"

namespace egc::train {

struct Report {
  std::string title;  // "egc-m on zinc"
  report::Facts facts;
  report::Facts sizes;  // of the dataset
  std::string metric;
  bool percent = true;  // the metric is a share
  std::vector<EpochRecord> history;
  int64_t best_epoch = 0;
  std::vector<std::vector<int64_t>> confusion;  // [true][predicted], or empty
  std::vector<std::string> class_names;         // or empty
  std::vector<float> errors;                    // of a regression, or empty
  Predictions::BinaryScores scores;             // of a binary task, or empty
  std::string command;                          // that trains it again
  std::string version;                          // of the program
  std::string config;                           // JSON, complete
};

std::string to_html(const Report& report);

}  // namespace egc::train
