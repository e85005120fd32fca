#include "cli/train/display.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/status_line.h"
#include "egc/core/log.h"
#include "egc/report/spell.h"

namespace egc::cli {
namespace {

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace

TrainDisplay::~TrainDisplay() { status_line::clear(); }

std::string TrainDisplay::metric() const {
  return std::string(data::metrics().name_of(trainer_->data().dataset().info.metric));
}

// What the run is going to do.
void TrainDisplay::introduce(train::Trainer& trainer) const {
  const train::RunConfig& config = trainer.config();
  status_line::clear();
  fmt::print(stderr, "Training {} on {}: {} layers of width {}, {} parameters, seed {}\n",
             config.model.model, trainer.data().dataset().info.name, config.model.layers,
             config.model.hidden, trainer.network().num_parameters(), config.seed);
  fmt::print(stderr, "{} {} to train on, at most {} epochs; results go to {}\n", items_, unit_,
             config.train.epochs, directory_);
}

void TrainDisplay::on_start(train::Trainer& trainer) {
  trainer_ = &trainer;
  items_ = static_cast<int64_t>(trainer.data().ids(train::Part::kTrain).size());
  began_ = drawn_ = Clock::now();
  unit_ = trainer.data().dataset().num_graphs() > 1 ? "graphs" : "nodes";
  if (output_ == TrainOutput::kNothing) return;
  const auto& config = trainer.config();
  if (output_ == TrainOutput::kTerminal)
    introduce(trainer);
  else
    log_info("{} on {}: {} parameters, {} {} {}to train on, seed {}", config.model.model,
             trainer.data().dataset().info.name, trainer.network().num_parameters(), items_, unit_,
             trainer.data().is_part() ? "of this partition " : "", config.seed);
  if (trainer.progress().epochs_done() > 0 || trainer.progress().batches > 0)
    log_info("resuming after epoch {}, batch {}", trainer.progress().epochs_done(),
             trainer.progress().batches);
}

bool TrainDisplay::on_step(const train::Trainer::Step& step) {
  constexpr double kEvery = 0.1;  // seconds
  ++steps_;
  if (output_ == TrainOutput::kTerminal && (steps_ == 1 || seconds_since(drawn_) > kEvery))
    draw(step);
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
  constexpr int kWidth = 16;
  // The epoch, or the run where an epoch is a single step.
  const int filled = static_cast<int>((step.batches > 1 ? of_epoch : done / epochs) * kWidth);
  status_line::show(
      {fmt::format("epoch {}/{} [{:=<{}}{:{}}]", step.epoch, trainer_->config().train.epochs, "",
                   filled, "", kWidth - filled),
       fmt::format("loss {:.4f}", step.loss),
       fmt::format("{} left", report::spell_time((epochs - done) / std::max(1e-9, a_second))),
       p.history.empty()
           ? ""
           : fmt::format("valid {}", report::spell_score(metric(), p.history.back().valid)),
       fmt::format("{:.0f} {}/s", a_second * static_cast<double>(items_), unit_)});
}

void TrainDisplay::on_epoch(const train::EpochRecord& r, bool best) {
  if (output_ == TrainOutput::kJson) {
    fmt::print("{}\n", train::to_json(r, trainer_->config().seed));
    std::fflush(stdout);
  } else if (output_ == TrainOutput::kLines) {
    log_info("seed {} epoch {}: loss {:.4f}, valid {}{}, lr {:.2g}, {:.1f} s",
             trainer_->config().seed, r.epoch, r.train_loss, report::spell_score(metric(), r.valid),
             best ? " (best)" : "", r.lr, r.seconds);
  } else if (output_ == TrainOutput::kTerminal && best) {
    status_line::clear();
    fmt::print(stderr, "epoch {:>4}  loss {:.4f}  valid {} {} (best so far)  {:.1f} s\n", r.epoch,
               r.train_loss, metric(), report::spell_score(metric(), r.valid), r.seconds);
  }
}

}  // namespace egc::cli
