#include "egc/train/task_data.h"

#include <cmath>
#include <vector>

#include "egc/core/error.h"
#include "egc/data/splits.h"

namespace egc::train {
namespace {

models::ModelInput part_input(const data::DatasetPart& part) {
  models::ModelInput input;
  if (!part.dataset.hetero.empty()) {
    input = inference::hetero_input(part.dataset, part.share.graph);
    for (const auto& nodes : part.share.nodes)
      input.hetero_ids.emplace_back(nodes.begin(), nodes.end());
    return input;
  }
  if (part.dataset.encodings.columns > 0)
    input.encodings = inference::borrow(part.dataset.encodings);
  const data::Features& x = part.dataset.node_features;
  input.graph = part.share.graph.relations[0];
  if (!x.floats.empty()) {
    input.x = inference::borrow(x.floats);
  } else if (!x.categories.empty()) {
    input.categories = inference::borrow(x.categories);
  } else {
    input.x = Tensor::full(input.graph.num_targets(), 1, DType::kF32, 1);
  }
  return input;
}

}  // namespace

const NamedTable<Part>& parts() {
  static const NamedTable<Part> table(
      "set", {{"train", Part::kTrain}, {"valid", Part::kValid}, {"test", Part::kTest}});
  return table;
}

struct TaskData::Content {
  data::Dataset dataset;
  data::Split split;
  data::TargetVocabulary vocabulary;
  std::shared_ptr<const data::GraphStore> store;  // of many graphs, or
  models::ModelInput whole;                       // one, or a part of it
};

TaskData::TaskData(const data::Dataset& dataset, const std::string& split, int64_t words,
                   int64_t length)
    : TaskData(
          dataset, split,
          dataset.info.task == Task::kGraphSequence
              ? data::TargetVocabulary(dataset.labels.tokens,
                                       data::with_valid(dataset, split).train.span(), words, length)
              : data::TargetVocabulary()) {}

TaskData::TaskData(const data::Dataset& dataset, const std::string& split,
                   data::TargetVocabulary vocabulary)
    : content_(std::make_unique<Content>()) {
  Content& c = *content_;
  c.dataset = dataset;
  c.split = data::with_valid(dataset, split);
  c.vocabulary = std::move(vocabulary);
  if (inference::is_one_graph(dataset))
    c.whole = inference::whole_input(dataset);
  else
    c.store = inference::store_of(dataset, c.vocabulary);
}

TaskData::TaskData(const data::DatasetPart& part, const std::string& split)
    : content_(std::make_unique<Content>()) {
  content_->dataset = part.dataset;
  content_->split = part.dataset.split(split);  // a part may well be without valid nodes
  content_->whole = part_input(part);
}

TaskData::~TaskData() = default;
TaskData::TaskData(TaskData&&) noexcept = default;

const data::Dataset& TaskData::dataset() const { return content_->dataset; }
const data::TargetVocabulary& TaskData::vocabulary() const { return content_->vocabulary; }

bool TaskData::is_part() const { return !content_->dataset.checksum_of_dataset.empty(); }

std::span<const int64_t> TaskData::ids(Part part) const {
  const data::Split& split = content_->split;
  return part == Part::kTrain   ? split.train.span()
         : part == Part::kValid ? split.valid.span()
                                : split.test.span();
}

double TaskData::mean_log_degree() const {
  double sum = 0;
  double nodes = 0;
  const auto add = [&](const Csr& graph) {
    const auto offsets = graph.offsets();
    for (size_t i = 0; i + 1 < offsets.size(); ++i)
      sum += std::log(static_cast<double>(offsets[i + 1] - offsets[i]) + 1);
    nodes += static_cast<double>(graph.num_targets());
  };
  if (content_->store) {
    for (const int64_t id : ids(Part::kTrain)) add(content_->store->batch({&id, 1}).graphs.graph);
  } else {
    add(content_->whole.graph);
  }
  return nodes > 0 ? sum / nodes : 0;
}

std::unique_ptr<BatchStream> TaskData::shuffled(Part part, int64_t batch, uint64_t seed,
                                                int64_t share, int64_t shares) const {
  if (!content_->store) {
    check(shares == 1 || is_part(), "{}: ranks that train on one large graph need partitions of it",
          content_->dataset.info.name);
    return in_order(part, batch);
  }
  data::LoaderOptions options;
  options.batch_size = batch;
  options.seed = seed;
  options.min_batch_size = 2;
  options.share = share;
  options.shares = shares;
  return inference::graph_batches(content_->store, ids(part), options);
}

std::unique_ptr<BatchStream> TaskData::in_order(Part part, int64_t batch) const {
  const Content& c = *content_;
  if (c.store) {
    data::LoaderOptions options;
    options.batch_size = batch;
    options.shuffle = false;
    return inference::graph_batches(c.store, ids(part), options);
  }
  const auto& classes = c.dataset.labels.classes;
  BatchTensors whole;
  whole.input = c.whole;
  const auto targets =
      std::make_shared<std::vector<int64_t>>(static_cast<size_t>(classes.size()), -1);
  for (const int64_t i : ids(part)) (*targets)[static_cast<size_t>(i)] = classes[i];
  whole.targets.classes = *targets;
  whole.targets.owner = targets;
  return inference::one_batch(std::move(whole));
}

}  // namespace egc::train
