#include "egc/train/run.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "egc/core/atomic_file.h"
#include "egc/models/model_file.h"
#include "egc/report/spell.h"
#include "egc/train/checkpoint.h"
#include "egc/train/event_file.h"
#include "egc/train/html_report.h"

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
    write_whole_file(path_, text, Sync::kNo);
  }
  void add(const EpochRecord& record) { append_to_file(path_, to_json(record, seed_) + "\n"); }

 private:
  std::filesystem::path path_;
  uint64_t seed_;
};

// The files of a run while it is trained.
class RunFiles {
 public:
  RunFiles(const RunDirectory& dir, const Trainer& trainer)
      : dir_(dir),
        metrics_(dir.metrics(), trainer.progress(), trainer.config().seed),
        events_(dir.events(), trainer.progress().history) {}

  void save(const Trainer& trainer) const { save_checkpoint(dir_.checkpoint(), trainer); }
  void add_epoch(Trainer& trainer) {
    if (trainer.last_was_best())
      models::save_network(dir_.model(), trainer.best(), notes_of(trainer, nullptr));
    metrics_.add(trainer.progress().history.back());
    events_.add(trainer.progress().history.back());
  }
  void finish(Trainer& trainer, const RunResult& result, const Predictions& test) const;

 private:
  const RunDirectory& dir_;
  MetricsFile metrics_;
  EventFile events_;
};

// As a shell reads it.
std::string quoted(const std::string& text) {
  if (text.find_first_of(" \t'\"$&;|<>()*?\\`") == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Report report_of(const Trainer& trainer, const RunResult& result, const Predictions& test,
                 const std::string& config_file) {
  const RunConfig& config = trainer.config();
  const data::Dataset& dataset = trainer.data().dataset();
  const data::DatasetInfo& info = dataset.info;
  Report out;
  out.title = fmt::format("{} on {}", config.model.model, info.name);
  out.metric = data::metrics().name_of(info.metric);
  out.percent = info.metric != data::Metric::kMae;
  const auto number = [](int64_t n) { return std::to_string(n); };
  out.facts = {{"test " + out.metric, report::spell_score(out.metric, result.test)},
               {"validation " + out.metric, report::spell_score(out.metric, result.valid)},
               {"best epoch", number(result.best_epoch) + " of " + number(result.epochs)},
               {"parameters", number(result.parameters)},
               {"training time", report::spell_time(result.seconds)},
               {"seed", std::to_string(config.seed)}};
  if (!trainer.data().is_part())  // whose own sizes would mislead
    out.sizes = {{"graphs", number(dataset.num_graphs())},
                 {"nodes", number(dataset.num_nodes())},
                 {"edges (as stored)", number(dataset.num_edges())}};
  constexpr const char* kSets[] = {"training set", "validation set", "test set"};
  for (const Part part : {Part::kTrain, Part::kValid, Part::kTest})
    if (!trainer.data().is_part())
      out.sizes.emplace_back(kSets[static_cast<int>(part)],
                             number(std::ssize(trainer.data().ids(part))));
  out.history = trainer.progress().history;
  out.best_epoch = result.best_epoch;
  out.confusion = test.confusion();
  out.class_names = info.class_names;
  out.errors = test.errors();
  out.scores = test.binary_scores();
  out.command = fmt::format("egc train {} --config {} --seed {}", quoted(config.dataset),
                            quoted(config_file), config.seed);
  out.version = config.version;
  out.config = fmt::format("{}\n{}", Json::parse(models::to_json(config.model)).dump(2),
                           Json::parse(to_json(config.train)).dump(2));
  return out;
}

void RunFiles::finish(Trainer& trainer, const RunResult& result, const Predictions& test) const {
  models::save_network(dir_.model(), trainer.best(), notes_of(trainer, &result));
  write_whole_file(dir_.report(),
                   to_html(report_of(trainer, result, test, dir_.config().string())));
}

}  // namespace

RunResult run_training(const RunDirectory* dir, const TaskData& data, const RunConfig& config,
                       const RunLimits& limits, RunObserver& observer,
                       distributed::ProcessGroup* group) {
  Trainer trainer(data, config, group);
  if (dir != nullptr && std::filesystem::exists(dir->checkpoint()))
    load_checkpoint(dir->checkpoint(), trainer);
  if (group != nullptr) trainer.follow_first();
  std::optional<RunFiles> files;
  if (dir != nullptr) files.emplace(*dir, trainer);
  observer.on_start(trainer);
  RunResult result;
  const Progress& progress = trainer.progress();
  const auto is_pause = [&] { return limits.until > 0 && progress.epochs_done() >= limits.until; };
  const auto on_step = [&](const Trainer::Step& step) {
    return observer.on_step(step) && (limits.stop == nullptr || *limits.stop == 0);
  };
  while (!trainer.finished() && !is_pause()) {
    if (!trainer.run_epoch(on_step)) {
      if (files) files->save(trainer);
      result.interrupted = true;
      return result;
    }
    const bool due = progress.epochs_done() % limits.checkpoint_every == 0;
    if (files && (trainer.finished() || is_pause() || due)) files->save(trainer);
    if (files) files->add_epoch(trainer);
    observer.on_epoch(progress.history.back(), trainer.last_was_best());
  }
  result.epochs = progress.epochs_done();
  result.best_epoch = progress.best_epoch;
  result.valid = progress.history.at(static_cast<size_t>(progress.best_epoch) - 1).valid;
  for (const EpochRecord& record : progress.history) result.seconds += record.seconds;
  result.parameters = trainer.network().num_parameters();
  result.paused = !trainer.finished();
  if (result.paused) return result;
  const Predictions test =
      predict_part(trainer.best(), data, Part::kTest, config.train.batch, nullptr, group);
  result.test = test.score();
  if (files) files->finish(trainer, result, test);
  return result;
}

}  // namespace egc::train
