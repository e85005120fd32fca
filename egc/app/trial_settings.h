// In what the trials of a search differ, and which of it mattered.
#pragma once

#include <string>
#include <vector>

#include "egc/app/search.h"

namespace egc::app {

struct TrialSetting {
  std::string name;                 // "train.lr"
  std::vector<std::string> values;  // of each trial; "" where its configuration has none
  std::vector<double> numbers;      // likewise; NaN for what is no number
};
// Those that are not the same for all.
std::vector<TrialSetting> differing_settings(const std::vector<Trial>& trials);

// A table of the numeric settings, the one that matters most first. `ranked`: the best first.
std::string what_mattered(const std::vector<Trial>& ranked);

}  // namespace egc::app
