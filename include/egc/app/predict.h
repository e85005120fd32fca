// Predictions as a file, written while the input is read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "egc/app/input_chunks.h"

namespace egc::app {

// Format of the output: csv with a header, or a JSON object per line.
enum class PredictFormat { kCsv, kJsonLines };
// Options of predict().
struct PredictOptions {
  // Model files or runs; the predictions of several are averaged.
  std::vector<std::string> models;
  std::string out;                             // file; empty: stdout
  PredictFormat format = PredictFormat::kCsv;  // of the output
  int64_t batch = 256;                         // graphs at a time
  // Called now and then with the lines written so far.
  std::function<void(int64_t lines)> on_lines;
};

// Predicts for an input and writes the results. Returns the number of lines.
int64_t predict(const PredictOptions& options, const OpenInput& open);

}  // namespace egc::app
