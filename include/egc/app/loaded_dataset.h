// A dataset with its checksum, which takes as long as reading it: computed once.
#pragma once

#include <string>
#include <utility>

#include "egc/data/dataset.h"
#include "egc/data/raw/cache.h"

namespace egc::app {

struct LoadedDataset {
  explicit LoadedDataset(data::Dataset from)
      : dataset(std::move(from)), checksum(data::dataset_checksum(dataset)) {}

  data::Dataset dataset;
  std::string checksum;
};

}  // namespace egc::app
