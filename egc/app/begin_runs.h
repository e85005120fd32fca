// The directories of training runs: where new ones go, what they replace, which there are.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egc/app/session.h"
#include "egc/app/train.h"

namespace egc::app {

// What new runs replace, aside until they have a checkpoint: then it is removed, and where there is
// none at the end it comes back. Nothing but runs is ever replaced.
class Replaced {
 public:
  // config: a file, which may be of the run that is moved.
  Replaced(const std::string& dir, bool overwrite, std::string& config);
  ~Replaced();
  // What the end does; for a process that ends at once.
  void put_back() const;
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
  explicit TrainingData(const Session& session) : session_(session) {}

  const LoadedDataset& of(const std::string& name);
  // The same without keeping it, when nobody else will ask.
  LoadedDataset take(const std::string& name);
  void clear() { loaded_.reset(); }
  // What was read by one name, by another from now on.
  void rename(const std::string& name);

 private:
  const Session& session_;
  std::string name_;
  std::optional<LoadedDataset> loaded_;
};

// The directories of new runs, complete but for the training: `dir`, or dir/seed-<n> of each seed.
std::vector<std::string> begin_runs(const TrainRequest& request, const Session& session,
                                    TrainingData& data, const std::string& dir,
                                    std::unique_ptr<Replaced>& replaced);

// Of one run or of several: the directories with a config.json.
std::vector<std::string> runs_in(const std::string& dir);

// The paper's configuration of a known dataset; empty where there is none.
std::string published_config(const std::string& dataset, const std::string& model);

// Where runs go that nobody named: runs/<dataset>-<model>, or the next free number.
std::string free_directory(const TrainOptions& options, bool overwrite);

// One page over the runs of several seeds.
void write_seeds_report(const std::string& dir, const std::vector<std::string>& runs,
                        const std::vector<TrainOutcome>& outcomes);

}  // namespace egc::app
