#include "egc/train/run.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/models/model_file.h"
#include "egc/train/checkpoint.h"

namespace egc::train {
namespace {

using Json = nlohmann::ordered_json;

// Everything that prediction needs beside the network, and the scores.
models::Notes notes_of(const Trainer& trainer, const RunResult* result) {
  const data::DatasetInfo& info = trainer.data().dataset().info;
  const Progress& p = trainer.progress();
  models::Notes notes;
  notes["dataset"] = data::to_json(info);
  if (info.task == Task::kGraphSequence)
    notes["vocabulary"] = Json(trainer.data().vocabulary().words()).dump();
  notes["train"] = to_json(trainer.config().train);
  notes["seed"] = std::to_string(trainer.config().seed);
  Json metrics = {{"metric", data::metrics().name_of(info.metric)},
                  {"best_epoch", p.best_epoch},
                  {"valid", p.history.at(static_cast<size_t>(p.best_epoch) - 1).valid}};
  if (result != nullptr) metrics["test"] = result->test;
  notes["metrics"] = metrics.dump();
  return notes;
}

// metrics.jsonl: written anew from the history, then one line an epoch.
class MetricsFile {
 public:
  MetricsFile(std::filesystem::path path, const Progress& progress, uint64_t seed)
      : path_(std::move(path)), seed_(seed) {
    std::string text;
    for (const EpochRecord& record : progress.history) text += to_json(record, seed) + "\n";
    write_whole_file(path_, text);
  }
  void add(const EpochRecord& record) {
    const std::string line = to_json(record, seed_) + "\n";
    std::FILE* file = std::fopen(path_.c_str(), "ae");
    const bool fine = file != nullptr && std::fputs(line.c_str(), file) >= 0;
    if (file == nullptr || std::fclose(file) != 0 || !fine)
      fail(ErrorKind::kSystem, "{}: a line cannot be added", path_.string());
  }

 private:
  std::filesystem::path path_;
  uint64_t seed_;
};

}  // namespace

RunResult run_training(const RunDirectory& dir, const TaskData& data, const RunConfig& config,
                       int64_t checkpoint_every, RunObserver& observer) {
  Trainer trainer(data, config);
  if (std::filesystem::exists(dir.checkpoint())) load_checkpoint(dir.checkpoint(), trainer);
  MetricsFile metrics(dir.metrics(), trainer.progress(), config.seed);
  observer.on_start(trainer);
  RunResult result;
  const Progress& progress = trainer.progress();
  while (!trainer.finished()) {
    if (!trainer.run_epoch([&](const Trainer::Step& step) { return observer.on_step(step); })) {
      save_checkpoint(dir.checkpoint(), trainer);
      result.interrupted = true;
      return result;
    }
    if (trainer.finished() || progress.epochs_done() % checkpoint_every == 0)
      save_checkpoint(dir.checkpoint(), trainer);
    if (trainer.last_was_best())
      models::save_network(dir.model(), trainer.best(), notes_of(trainer, nullptr));
    metrics.add(progress.history.back());
    observer.on_epoch(progress.history.back(), trainer.last_was_best());
  }
  result.epochs = progress.epochs_done();
  result.best_epoch = progress.best_epoch;
  result.valid = progress.history.at(static_cast<size_t>(progress.best_epoch) - 1).valid;
  result.test = evaluate(trainer.best(), data, Part::kTest, config.train.batch).score;
  for (const EpochRecord& record : progress.history) result.seconds += record.seconds;
  result.parameters = trainer.network().num_parameters();
  models::save_network(dir.model(), trainer.best(), notes_of(trainer, &result));
  return result;
}

}  // namespace egc::train
