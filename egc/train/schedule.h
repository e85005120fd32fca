// The learning rate of a step.
#pragma once

#include <cstdint>

#include "egc/train/progress.h"

namespace egc::train {

// Of batch `batch` of the current epoch, which has `batches`. With the schedule "cosine" a function
// of the step's number alone, so a resumed run has the same: it rises to `lr` with the steps of the
// warm-up, the last of which has all of it, then falls by half a cosine that would reach 0 after
// the last epoch. With W of T steps of warm-up, step s = 0, 1, ... has lr * (s + 1) / W below W,
// then lr * (1 + cos(pi * (s - W) / (T - W))) / 2.
double learning_rate(const TrainConfig& config, const Progress& progress, int64_t batch,
                     int64_t batches);

}  // namespace egc::train
