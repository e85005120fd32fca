#include "cli/train/display.h"

#include <fmt/format.h>

#include <cmath>

#include "egc/core/log.h"
#include "egc/report/spell.h"

namespace egc::cli {
namespace {

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace

TrainDisplay::~TrainDisplay() {
  if (bar_is_there_) fmt::print(stderr, "\r\x1b[K");
}

void TrainDisplay::on_start(train::Trainer& trainer) {
  trainer_ = &trainer;
  items_ = static_cast<int64_t>(trainer.data().ids(train::Part::kTrain).size());
  began_ = drawn_ = Clock::now();
  unit_ = trainer.data().dataset().num_graphs() > 1 ? "graphs" : "nodes";
  if (output_ == TrainOutput::kNothing) return;
  const auto& config = trainer.config();
  log_info("{} on {}: {} parameters, {} {} {}to train on, seed {}", config.model.model,
           trainer.data().dataset().info.name, trainer.network().num_parameters(), items_, unit_,
           trainer.data().is_part() ? "of this part " : "", config.seed);
  if (trainer.progress().epochs_done() > 0 || trainer.progress().batches > 0)
    log_info("going on after epoch {}, batch {}", trainer.progress().epochs_done(),
             trainer.progress().batches);
}

bool TrainDisplay::on_step(const train::Trainer::Step& step) {
  constexpr double kEvery = 0.1;  // seconds
  ++steps_;
  if (output_ == TrainOutput::kBar && seconds_since(drawn_) > kEvery) draw(step);
  return true;
}

void TrainDisplay::draw(const train::Trainer::Step& step) {
  drawn_ = Clock::now();
  const train::Progress& p = trainer_->progress();
  const double of_epoch = static_cast<double>(step.batch) / static_cast<double>(step.batches);
  const double done = static_cast<double>(step.epoch - 1) + of_epoch;
  // Of this process: what was done before a resume took none of its time.
  const double epochs_here = static_cast<double>(steps_) / static_cast<double>(step.batches);
  const double a_second = epochs_here / std::max(1e-9, seconds_since(began_));
  const auto epochs = static_cast<double>(trainer_->config().train.epochs);
  const std::string metric(data::metrics().name_of(trainer_->data().dataset().info.metric));
  constexpr int kWidth = 20;
  const int filled = static_cast<int>(of_epoch * kWidth);
  const std::string valid =
      p.history.empty() ? "" : " valid " + report::spell_score(metric, p.history.back().valid);
  fmt::print(stderr,
             "\r\x1b[Kepoch {}/{} [{:=<{}}{:{}}] loss {:.4f}{} lr {:.2g} {:.0f} {}/s left {}",
             step.epoch, trainer_->config().train.epochs, "", filled, "", kWidth - filled,
             step.loss, valid, p.lr, a_second * static_cast<double>(items_), unit_,
             report::spell_time((epochs - done) / std::max(1e-9, a_second)));
  bar_is_there_ = true;
}

void TrainDisplay::on_epoch(const train::EpochRecord& r, bool best) {
  if (output_ == TrainOutput::kJson) {
    fmt::print("{}\n", train::to_json(r, trainer_->config().seed));
    std::fflush(stdout);
  } else if (output_ == TrainOutput::kLines) {
    const std::string metric(data::metrics().name_of(trainer_->data().dataset().info.metric));
    log_info("seed {} epoch {}: loss {:.4f}, valid {}{}, lr {:.2g}, {:.1f} s",
             trainer_->config().seed, r.epoch, r.train_loss, report::spell_score(metric, r.valid),
             best ? " (best)" : "", r.lr, r.seconds);
  }
}

}  // namespace egc::cli
