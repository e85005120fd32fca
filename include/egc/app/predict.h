// A model's predictions, written line by line while the input is read.
#pragma once

#include <cstdint>
#include <functional>
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
  std::function<void(int64_t lines)> on_lines;  // called now and then with those written so far
};

// The number of lines written.
int64_t predict(const PredictOptions& options, const OpenInput& open);

}  // namespace egc::app
