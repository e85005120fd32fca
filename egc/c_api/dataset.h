// The dataset behind egc_dataset.
#pragma once

#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/egc.h"

struct egc_dataset {  // NOLINT: its name is of the C interface
  explicit egc_dataset(egc::data::Dataset of);

  egc::data::Dataset data;
  std::string info;                // JSON
  std::vector<std::string> names;  // of the arrays
  std::vector<egc_array> arrays;   // views into data
};
