// The figures of an epoch.
#pragma once

#include <cstdint>

namespace egc::train {

// The figures of one epoch.
struct EpochRecord {
  int64_t epoch = 0;      // counted from 1
  double train_loss = 0;  // mean over the training set
  double valid_loss = 0;  // mean over the validation set
  double valid = 0;       // metric on the validation set; NaN where it is undefined
  double lr = 0;          // learning rate of the epoch
  double seconds = 0;     // training and validation
};

}  // namespace egc::train
