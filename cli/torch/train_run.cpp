#include <unistd.h>

#include <optional>

#include "cli/torch/module.h"
#include "cli/torch/train_display.h"
#include "egc/core/error.h"
#include "egc/core/text_file.h"
#include "egc/data/cache.h"
#include "egc/distributed/group.h"
#include "egc/train/run.h"

namespace egc::cli {
namespace {

// The main thread may wait for the lost rank for ever: the process ends here. Checkpoints are whole
// at any moment.
void end_process(const std::string& sentence) {
  fmt::print(stderr, "egc: {}\n", sentence);
  _exit(static_cast<int>(ErrorKind::kSystem));
}

// Batch norm and dropout know of the group while it trains.
class SharedBatches {
 public:
  explicit SharedBatches(distributed::Group* group) { ops::set_batch_group(group); }
  ~SharedBatches() { ops::set_batch_group(nullptr); }
};

}  // namespace

GroupPlace train_place() {
  const auto place = distributed::place_from_environment();
  return place ? GroupPlace{place->rank, place->size} : GroupPlace{};
}

TrainOutcome train_run(const std::string& directory, const LoadDataset& load,
                       const TrainOptions& options) {
  std::unique_ptr<distributed::Group> group;
  if (const auto place = distributed::place_from_environment(); place && place->size > 1)
    group = std::make_unique<distributed::Group>(*place, end_process);
  const bool first = !group || group->rank() == 0;
  std::optional<train::RunDirectory> dir;
  if (first) dir.emplace(train::RunDirectory::open(directory));
  std::string text = first ? read_text_file(dir->config().string(), ErrorKind::kUsage) : "";
  if (group) text = group->from_first(text);
  const train::RunConfig config = train::parse_run_config(text, directory + "/config.json");
  const data::Dataset dataset = load(config.dataset);
  check_data(config.dataset_checksum == data::dataset_checksum(dataset),
             "{}: the dataset {} has changed since the run began", directory, config.dataset);
  const train::TaskData data(dataset, config.train.split,
                             config.model.outputs - data::TargetVocabulary::kSpecialWords,
                             config.model.sequence_length);
  TrainDisplay display(options);
  const SharedBatches shared(group.get());
  const train::RunResult r =
      train::run_training(dir ? &*dir : nullptr, data, config,
                          {options.checkpoint_every, options.until}, display, group.get());
  if (group) group->leave();
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
