#include "egc/app/train_run.h"

#include <optional>

#include "egc/core/error.h"
#include "egc/core/log.h"
#include "egc/core/text_file.h"
#include "egc/data/encodings.h"
#include "egc/data/partition/dataset_part.h"
#include "egc/data/splits.h"
#include "egc/data/standardize.h"
#include "egc/inference/dataset_fit.h"

namespace egc::app {
namespace {

// Batch norm and dropout know of the group while it trains.
class SharedBatches {
 public:
  explicit SharedBatches(distributed::ProcessGroup* group) { set_batch_group(group); }
  ~SharedBatches() { set_batch_group(nullptr); }
};

void log_part(const data::DatasetPart& part) {
  const data::PartFacts f = data::facts_of(part.share.graph);
  log_info(
      "partition {} of {}: {} nodes, {} edges, {} rows received from and {} rows sent to other "
      "partitions",
      part.part, part.parts, f.nodes, f.edges, f.rows_received, f.rows_sent);
}

// Rank 0 decides who has which node.
data::DatasetPart part_of_rank(const data::Dataset& dataset, const std::string& split,
                               distributed::ProcessGroup& group) {
  const data::WholeGraph graph(dataset);
  std::vector<int32_t> part_of(static_cast<size_t>(dataset.num_nodes()));
  if (group.rank() == 0)
    part_of = partition(graph.schema, graph.graph, group.size(), PartitionMethod::kMetis);
  group.broadcast(std::as_writable_bytes(std::span(part_of)));
  const data::Split divided = data::with_valid(dataset, split);
  return data::cut_dataset(dataset, graph, {&divided, 1}, part_of, group.size(), group.rank());
}

// A model says of edges what its network reads of them: tables to predict from need no more.
void describe_edges(const models::ModelConfig& model, data::Dataset& dataset) {
  data::DatasetInfo& info = dataset.info;
  if (!dataset.edge_weights.empty() && info.edge_weight.empty()) info.edge_weight = "weight";
  if (!inference::uses_edge_features(model)) info.edge_columns.clear();
}

// Of a group: its batches are shared, or one large graph is cut among its processes, unless that
// was done before.
train::TaskData load_task(const train::RunConfig& config, const LoadDataset& load,
                          distributed::ProcessGroup* group) {
  const std::string& name = config.dataset;
  const auto check_same = [&](const std::string& checksum) {
    check_data(config.dataset_checksum == checksum,
               "{}: the dataset has changed since the run started, so it cannot be resumed", name);
  };
  const auto of_part = [&](const data::DatasetPart& part) {
    for (const std::string& cut : group->gather(part.cut))
      check_data(cut == part.cut,
                 "{}: the partitions of the ranks come from different runs of egc data partition",
                 name);
    log_part(part);
    return train::TaskData(part, config.train.split);
  };
  if (data::is_parts_directory(name)) {
    data::DatasetPart part =
        data::read_part(name, group ? group->rank() : 0, group ? group->size() : 1);
    check_same(LoadedDataset(part.dataset).checksum);
    describe_edges(config.model, part.dataset);
    return of_part(part);
  }
  LoadedDataset loaded = load(name);
  check_same(loaded.checksum);
  data::Dataset dataset = inference::seen_by(config.model, loaded.dataset);
  describe_edges(config.model, dataset);
  if (config.train.standardize == "train") {
    const data::Split split = data::with_valid(dataset, config.train.split);
    dataset.info.scaling = data::learn_scaling(dataset, split);
    dataset = data::standardized(dataset, dataset.info.scaling);
    if (inference::uses_edge_features(config.model)) {
      dataset.info.edge_scaling = data::learn_edge_scaling(dataset, split);
      dataset = data::standardized_edges(dataset, dataset.info.edge_scaling);
    }
  }
  dataset = data::with_encodings(dataset, config.model.encode);
  if (group != nullptr && data::can_be_cut(dataset))
    return of_part(part_of_rank(dataset, config.train.split, *group));
  return train::TaskData(dataset, config.train.split,
                         config.model.outputs - data::TargetVocabulary::kSpecialWords,
                         config.model.sequence_length);
}

}  // namespace

distributed::GroupAddress group_address() {
  return distributed::address_from_environment().value_or(distributed::GroupAddress());
}

TrainOutcome train_run(const std::string& directory, const LoadDataset& load,
                       const train::RunLimits& limits, train::RunObserver& observer,
                       distributed::ProcessGroup* group) {
  const bool first = group == nullptr || group->rank() == 0;
  std::optional<train::RunDirectory> dir;
  if (first) dir.emplace(train::RunDirectory::open(directory));
  std::string text = first ? read_text_file(dir->config().string(), ErrorKind::kUsage) : "";
  if (group != nullptr) group->broadcast(text);
  const train::RunConfig config = train::parse_run_config(text, directory + "/config.json");
  const train::TaskData data = load_task(config, load, group);
  const data::Dataset& dataset = data.dataset();
  const SharedBatches shared(group);
  const train::RunResult r =
      train::run_training(dir ? &*dir : nullptr, data, config, limits, observer, group);
  if (data.is_part()) log_info("{} bytes of rows sent to other ranks", group->bytes_exchanged());
  if (group != nullptr) group->leave();
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

}  // namespace egc::app
