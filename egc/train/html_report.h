// A run as one page: scores, curves, mistakes, configuration. Self-contained; light and dark.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "egc/train/epoch_record.h"

namespace egc::train {

struct Report {
  std::string title;                                       // "egc-m on zinc"
  std::vector<std::pair<std::string, std::string>> facts;  // "test MAE", "0.2810"
  std::string metric;
  bool percent = true;  // the metric is a share
  std::vector<EpochRecord> history;
  int64_t best_epoch = 0;
  std::vector<std::vector<int64_t>> confusion;  // [true][predicted], or empty
  std::vector<std::string> class_names;         // or empty
  std::vector<float> errors;                    // of a regression, or empty
  std::string config;                           // JSON
};

std::string to_html(const Report& report);

}  // namespace egc::train
