// The runs of one `egc train`: begun in directories, trained in turn or at once.
#pragma once

#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/common.h"
#include "egc/app/create_runs.h"
#include "egc/app/train_run.h"

namespace egc::cli {

struct TrainCommand {
  app::TrainOptions options;
  std::string out;
  std::string resume;
  int64_t seeds = 1;
  int64_t jobs = 1;
  bool overwrite = false;
  int64_t checkpoint_every = 1;
  int64_t until = 0;
};

// What new runs replace, aside until they have a checkpoint: then it is removed, and where there is
// none at the end it comes back. Nothing but runs is ever replaced.
class Replaced {
 public:
  // config: a file, which may be of the run that is moved.
  Replaced(const std::string& dir, bool overwrite, std::string& config);
  ~Replaced();
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  std::filesystem::path dir_;
  std::filesystem::path aside_;
};

// Reads each dataset once: runs are begun with it and trained on it. Generated sets are the same
// for every seed of training.
class TrainingData {
 public:
  explicit TrainingData(const CommonOptions& common) : common_(common) {}

  const app::LoadedDataset& of(const std::string& name);
  // The same without keeping it, when nobody else will ask.
  app::LoadedDataset take(const std::string& name);
  // What was read by one name, by another from now on.
  void rename(const std::string& name);

 private:
  const CommonOptions& common_;
  std::string name_;
  std::optional<app::LoadedDataset> loaded_;
};

// The directories of new runs, complete but for the training: `dir`, or dir/seed-<n> of each seed.
std::vector<std::string> begin_runs(const TrainCommand& command, const CommonOptions& common,
                                    TrainingData& data, const std::string& dir,
                                    std::unique_ptr<Replaced>& replaced);

// One page over the runs of several seeds.
void write_seeds_report(const std::string& dir, const std::vector<std::string>& runs,
                        const std::vector<app::TrainOutcome>& outcomes);

// Of one run or of several: the directories with a config.json.
std::vector<std::string> runs_in(const std::string& dir);

// The paper's configuration of a known dataset; empty where there is none.
std::string published_config(const std::string& dataset, const std::string& model);

// Where runs go that nobody named: runs/<dataset>-<model>, or the next free number.
std::string free_directory(const app::TrainOptions& options, bool overwrite);

// One after the other in this process, or several at once in processes of their own. With --json
// the epochs and the outcome of each run are printed. Ends early where `stop` is set.
std::vector<app::TrainOutcome> train_in_turn(const std::vector<std::string>& runs,
                                             const TrainCommand& command,
                                             const CommonOptions& common, TrainingData& data,
                                             const volatile std::sig_atomic_t* stop);
std::vector<app::TrainOutcome> train_at_once(const std::vector<std::string>& runs,
                                             const TrainCommand& command,
                                             const CommonOptions& common,
                                             const volatile std::sig_atomic_t* stop);

// A line of `egc train --json` about an epoch, for people.
std::string spell_epoch(const nlohmann::ordered_json& line);

}  // namespace egc::cli
