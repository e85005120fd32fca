// What a person, or a program, sees of a run while it goes on.
#pragma once

#include <chrono>
#include <string>

#include "egc/train/run.h"

namespace egc::cli {

enum class TrainOutput { kTerminal, kLines, kJson, kNothing };

class TrainDisplay : public train::RunObserver {
 public:
  // directory: where the results go.
  TrainDisplay(TrainOutput output, std::string directory)
      : output_(output), directory_(std::move(directory)) {}
  ~TrainDisplay() override;

  void on_start(train::Trainer& trainer) override;
  bool on_step(const train::Trainer::Step& step) override;
  void on_epoch(const train::EpochRecord& record, bool best) override;

 private:
  using Clock = std::chrono::steady_clock;
  void introduce(train::Trainer& trainer) const;
  void draw(const train::Trainer::Step& step);
  std::string metric() const;

  TrainOutput output_;
  std::string directory_;
  const train::Trainer* trainer_ = nullptr;
  int64_t items_ = 0;  // of an epoch
  const char* unit_ = "graphs";
  int64_t steps_ = 0;  // seen by this display
  Clock::time_point began_;
  Clock::time_point drawn_;
};

}  // namespace egc::cli
