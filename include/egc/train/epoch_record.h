// What is known of an epoch when it is over.
#pragma once

#include <cstdint>

namespace egc::train {

struct EpochRecord {
  int64_t epoch = 0;  // from 1
  double train_loss = 0;
  double valid_loss = 0;
  double valid = 0;  // the metric; NaN where it is not defined
  double lr = 0;     // that the epoch was trained with
  double seconds = 0;
};

}  // namespace egc::train
