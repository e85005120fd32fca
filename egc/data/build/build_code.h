// Method naming from Python sources: syntax trees in the form of OGB's Code-V2.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "egc/core/progress.h"
#include "egc/data/dataset.h"

namespace egc::data {

struct CodeOptions {
  std::filesystem::path from;  // a directory with Python sources, any depth
  int64_t min_nodes = 8;
  int64_t max_nodes = 1500;
  int64_t attributes = 10000;  // the commonest of the training part get numbers of their own
  std::array<double, 3> fractions = {0.8, 0.1, 0.1};  // of projects, or of files if there are few
  OnProgress on_progress = {};                        // functions read; the total is not known
  uint64_t seed = 0;
  std::string name;
};

struct CodeDataset {
  Dataset dataset;
  std::vector<std::string> types;       // the words behind the numbers
  std::vector<std::string> attributes;  // the last two: unknown, none
  std::vector<std::string> skipped;     // "file: reason" of sources that Python could not parse
};

// Needs python3; the sources are parsed, never run. Functions that occur twice are kept once.
CodeDataset build_code(const CodeOptions& options);

}  // namespace egc::data
