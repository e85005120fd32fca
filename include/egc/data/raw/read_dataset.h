// Reading datasets in the Open Graph Benchmark's raw layout (docs/datasets.md).
#pragma once

#include <filesystem>

#include "egc/data/dataset.h"

namespace egc::data {

// Options of read_dataset().
struct ReadOptions {
  bool cache = true;  // use and write the binary cache (data/raw/cache.h)
};

// Reads a dataset directory. Throws kData with file and line where something is invalid.
Dataset read_dataset(const std::filesystem::path& dir, const ReadOptions& options = {});

}  // namespace egc::data
