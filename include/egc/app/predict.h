// A model's predictions, written line by line while the input is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "egc/app/input_chunks.h"

namespace egc::app {

enum class PredictFormat { kCsv, kJsonLines };
struct PredictOptions {
  std::vector<std::string> models;  // several: the mean of their predictions
  std::string out;                  // empty: stdout
  PredictFormat format = PredictFormat::kCsv;
  int64_t batch = 256;
};

// The number of lines written.
int64_t predict(const PredictOptions& options, const OpenInput& open);

}  // namespace egc::app
