#include "cli/torch/module.h"
#include "cli/torch/train_display.h"
#include "egc/core/error.h"
#include "egc/data/cache.h"
#include "egc/train/run.h"

namespace egc::cli {

TrainOutcome train_run(const std::string& directory, const LoadDataset& load,
                       const TrainOptions& options) {
  const auto dir = train::RunDirectory::open(directory);
  const train::RunConfig config = train::read_run_config(dir.config().string());
  const data::Dataset dataset = load(config.dataset);
  check_data(config.dataset_checksum == data::dataset_checksum(dataset),
             "{}: the dataset {} has changed since the run began", directory, config.dataset);
  const train::TaskData data(dataset, config.train.split,
                             config.model.outputs - data::TargetVocabulary::kSpecialWords,
                             config.model.sequence_length);
  TrainDisplay display(options);
  const train::RunResult r =
      train::run_training(dir, data, config, {options.checkpoint_every, options.until}, display);
  TrainOutcome out;
  out.interrupted = r.interrupted;
  out.paused = r.paused;
  out.seed = config.seed;
  out.dataset = dataset.info.name;
  out.model = config.model.model;
  out.metric = data::metrics().name_of(dataset.info.metric);
  out.epochs = r.epochs;
  out.best_epoch = r.best_epoch;
  out.parameters = r.parameters;
  out.valid = r.valid;
  out.test = r.test;
  out.seconds = r.seconds;
  return out;
}

}  // namespace egc::cli
