#include "egc/train/schedule.h"

#include <cmath>
#include <numbers>

namespace egc::train {

double learning_rate(const TrainConfig& config, const Progress& progress, int64_t batch,
                     int64_t batches) {
  if (config.schedule == Schedule::kPlateau) return progress.lr;
  const int64_t step = progress.epochs_done() * batches + batch;
  const int64_t warmup = config.warmup_epochs * batches;
  const int64_t all = config.epochs * batches;
  if (step < warmup) return config.lr * static_cast<double>(step + 1) / static_cast<double>(warmup);
  const double done = static_cast<double>(step - warmup) / static_cast<double>(all - warmup);
  return config.lr * (1 + std::cos(std::numbers::pi * done)) / 2;
}

}  // namespace egc::train
