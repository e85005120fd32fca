#include <ATen/ATen.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "cli/torch/module.h"
#include "cli/torch/train_display.h"
#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/core/text_file.h"
#include "egc/data/cache.h"
#include "egc/data/splits.h"
#include "egc/data/standardize.h"
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

void log_part(const data::DatasetPart& part) {
  const data::PartFacts f = data::facts_of(part.share.graph);
  log_info("part {} of {}: {} nodes, {} edges, {} rows of others, {} rows for others", part.part,
           part.parts, f.nodes, f.edges, f.rows_received, f.rows_sent);
}

// Rank 0 decides who has which node.
data::DatasetPart part_of_rank(const data::Dataset& whole, const std::string& split,
                               distributed::Group& group) {
  const data::WholeGraph graph(whole);
  const int64_t nodes = whole.num_nodes();
  at::Tensor part_of = at::zeros({nodes}, at::kInt);
  if (group.rank() == 0) {
    const std::vector<int32_t> chosen =
        partition(graph.schema, graph.graph, group.size(), PartitionMethod::kMetis);
    std::copy(chosen.begin(), chosen.end(), part_of.data_ptr<int32_t>());
  }
  group.from_first(part_of);
  const data::Split divided = data::with_valid(whole, split);
  return data::cut_dataset(whole, graph, {&divided, 1},
                           {part_of.data_ptr<int32_t>(), static_cast<size_t>(nodes)}, group.size(),
                           group.rank());
}

// Of a group: its batches are shared, or one large graph is cut among its processes, unless that
// was done before.
train::TaskData load_task(const train::RunConfig& config, const LoadDataset& load,
                          distributed::Group* group) {
  const std::string& name = config.dataset;
  const auto check_same = [&](const data::Dataset& dataset) {
    check_data(config.dataset_checksum == data::dataset_checksum(dataset),
               "{}: the dataset has changed since the run began", name);
  };
  const auto of_part = [&](const data::DatasetPart& part) {
    for (const std::string& cut : group->gather(part.cut))
      check_data(cut == part.cut, "{}: the parts of the processes come from different cuts", name);
    log_part(part);
    return train::TaskData(part, config.train.split);
  };
  if (data::is_parts_directory(name)) {
    const data::DatasetPart part =
        data::read_part(name, group ? group->rank() : 0, group ? group->size() : 1);
    check_same(part.dataset);
    return of_part(part);
  }
  data::Dataset dataset = load(name);
  check_same(dataset);
  if (config.train.standardize == "train") {
    dataset.info.scaling =
        data::learn_scaling(dataset, data::with_valid(dataset, config.train.split));
    dataset = data::standardized(dataset, dataset.info.scaling);
  }
  if (group != nullptr && data::can_be_cut(dataset))
    return of_part(part_of_rank(dataset, config.train.split, *group));
  return train::TaskData(dataset, config.train.split,
                         config.model.outputs - data::TargetVocabulary::kSpecialWords,
                         config.model.sequence_length);
}

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
  const train::TaskData data = load_task(config, load, group.get());
  const data::Dataset& dataset = data.dataset();
  TrainDisplay display(options);
  const SharedBatches shared(group.get());
  const train::RunResult r =
      train::run_training(dir ? &*dir : nullptr, data, config,
                          {options.checkpoint_every, options.until}, display, group.get());
  if (data.is_part()) log_info("{} bytes of rows sent to others", group->bytes_exchanged());
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
