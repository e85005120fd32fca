#include "egc/train/task_data.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "egc/core/error.h"
#include "egc/data/loader.h"
#include "egc/data/splits.h"
#include "egc/data/training_edges.h"

namespace egc::train {
namespace {

class GraphBatches : public BatchStream {
 public:
  GraphBatches(std::shared_ptr<const data::GraphStore> store, std::span<const int64_t> ids,
               const data::LoaderOptions& options)
      : store_(std::move(store)),
        loader_(*store_, ids, options) {}

  int64_t num_batches() const override { return loader_.num_batches(); }
  void begin(int64_t epoch, int64_t first_batch) override { loader_.begin(epoch, first_batch); }
  std::optional<BatchTensors> next() override {
    auto batch = loader_.next();
    if (!batch) return std::nullopt;
    return to_tensors(*std::move(batch));
  }

 private:
  std::shared_ptr<const data::GraphStore> store_;
  data::Loader loader_;
};

class WholeGraph : public BatchStream {
 public:
  explicit WholeGraph(BatchTensors whole) : whole_(std::move(whole)) {}

  int64_t num_batches() const override { return 1; }
  void begin(int64_t /*epoch*/, int64_t first_batch) override { done_ = first_batch > 0; }
  std::optional<BatchTensors> next() override {
    if (std::exchange(done_, true)) return std::nullopt;
    return whole_;
  }

 private:
  BatchTensors whole_;
  bool done_ = true;
};

// The dataset's own memory, which nobody writes; the owner keeps it alive.
Tensor borrow(const data::Matrix<float>& m) {
  const auto owner = std::make_shared<data::Array<float>>(m.values);
  return Tensor::borrow(owner->span().data(), m.rows(), m.columns, owner);
}

models::Categories borrow(const data::Matrix<int32_t>& m) {
  const auto owner = std::make_shared<data::Array<int32_t>>(m.values);
  return {owner->span(), m.columns, owner};
}

models::ModelInput hetero_input(const data::Dataset& d, HeteroGraph graph) {
  models::ModelInput input;
  input.hetero = std::move(graph);
  for (const data::Features& x : d.hetero.features) {
    check(x.categories.empty(), "{}: features of a heterogeneous graph must be floats",
          d.info.name);
    input.hetero_x.emplace_back();
    if (x.columns() > 0) input.hetero_x.back() = borrow(x.floats);
  }
  return input;
}

models::ModelInput whole_input(const data::Dataset& d) {
  if (!d.hetero.empty()) return hetero_input(d, data::training_hetero_graph(d));
  const data::GraphStore store(d);
  const int64_t first = 0;
  return to_tensors(store.batch({&first, 1})).input;
}

bool is_one_graph(const data::Dataset& d) { return !d.hetero.empty() || d.splits_nodes(); }

std::shared_ptr<const data::GraphStore> store_of(const data::Dataset& dataset,
                                                 const data::TargetVocabulary& vocabulary) {
  return std::make_shared<data::GraphStore>(dataset, data::EdgeRules::of(dataset), vocabulary);
}

models::ModelInput part_input(const data::DatasetPart& part) {
  models::ModelInput input;
  if (!part.dataset.hetero.empty()) {
    input = hetero_input(part.dataset, part.share.graph);
    for (const auto& nodes : part.share.nodes)
      input.hetero_ids.emplace_back(nodes.begin(), nodes.end());
    return input;
  }
  const data::Features& x = part.dataset.node_features;
  input.graph = part.share.graph.relations[0];
  if (!x.floats.empty()) {
    input.x = borrow(x.floats);
  } else if (!x.categories.empty()) {
    input.categories = borrow(x.categories);
  } else {
    input.x = Tensor::full(input.graph.num_targets(), 1, DType::kF32, 1);
  }
  return input;
}

}  // namespace

const NamedTable<Part>& parts() {
  static const NamedTable<Part> table(
      "part of a split", {{"train", Part::kTrain}, {"valid", Part::kValid}, {"test", Part::kTest}});
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
  if (is_one_graph(dataset))
    c.whole = whole_input(dataset);
  else
    c.store = store_of(dataset, c.vocabulary);
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

bool TaskData::is_part() const { return !content_->dataset.checksum_of_whole.empty(); }

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
    check(shares == 1 || is_part(), "{}: processes that share one large graph need parts of it",
          content_->dataset.info.name);
    return in_order(part, batch);
  }
  data::LoaderOptions options;
  options.batch_size = batch;
  options.seed = seed;
  options.least = 2;
  options.share = share;
  options.shares = shares;
  return std::make_unique<GraphBatches>(content_->store, ids(part), options);
}

std::unique_ptr<BatchStream> TaskData::in_order(Part part, int64_t batch) const {
  const Content& c = *content_;
  if (c.store) {
    data::LoaderOptions options;
    options.batch_size = batch;
    options.shuffle = false;
    return std::make_unique<GraphBatches>(c.store, ids(part), options);
  }
  const auto& classes = c.dataset.labels.classes;
  BatchTensors whole;
  whole.input = c.whole;
  const auto targets =
      std::make_shared<std::vector<int64_t>>(static_cast<size_t>(classes.size()), -1);
  for (const int64_t i : ids(part)) (*targets)[static_cast<size_t>(i)] = classes[i];
  whole.targets.classes = *targets;
  whole.targets.owner = targets;
  return std::make_unique<WholeGraph>(std::move(whole));
}

std::unique_ptr<BatchStream> all_batches(const data::Dataset& dataset,
                                         const data::TargetVocabulary& vocabulary, int64_t batch) {
  if (is_one_graph(dataset)) {
    BatchTensors whole;
    whole.input = whole_input(dataset);
    return std::make_unique<WholeGraph>(std::move(whole));
  }
  std::vector<int64_t> ids(static_cast<size_t>(dataset.num_graphs()));
  std::iota(ids.begin(), ids.end(), 0);
  data::LoaderOptions options;
  options.batch_size = batch;
  options.shuffle = false;
  return std::make_unique<GraphBatches>(store_of(dataset, vocabulary), ids, options);
}

}  // namespace egc::train
