// From a directory in the Open Graph Benchmark's raw layout to a Dataset.
#pragma once

#include <filesystem>

#include "egc/data/dataset.h"

namespace egc::data {

struct ReadOptions {
  bool cache = true;  // use and write the binary cache (cache.h)
};

// Throws kData with file and line where something is wrong. docs/datasets.md describes the layout.
Dataset read_dataset(const std::filesystem::path& dir, const ReadOptions& options = {});

}  // namespace egc::data
