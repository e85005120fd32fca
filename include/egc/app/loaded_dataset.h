// A dataset with its checksum, which takes as long to compute as the data take to read.
#pragma once

#include <string>
#include <utility>

#include "egc/data/dataset.h"
#include "egc/data/raw/cache.h"

namespace egc::app {

// A dataset with its checksum.
struct LoadedDataset {
  // Computes the checksum.
  explicit LoadedDataset(data::Dataset from)
      : dataset(std::move(from)), checksum(data::dataset_checksum(dataset)) {}

  data::Dataset dataset;  // the data
  std::string checksum;   // of dataset_checksum()
};

}  // namespace egc::app
