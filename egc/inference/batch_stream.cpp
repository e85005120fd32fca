#include "egc/inference/batch_stream.h"

#include <numeric>
#include <utility>

#include "egc/core/error.h"
#include "egc/data/training_edges.h"

namespace egc::inference {
namespace {

class GraphBatches : public BatchStream {
 public:
  GraphBatches(std::shared_ptr<const data::GraphStore> store, std::span<const int64_t> ids,
               const data::LoaderOptions& options)
      : store_(std::move(store)), loader_(*store_, ids, options) {}

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

}  // namespace

std::unique_ptr<BatchStream> graph_batches(std::shared_ptr<const data::GraphStore> store,
                                           std::span<const int64_t> ids,
                                           const data::LoaderOptions& options) {
  return std::make_unique<GraphBatches>(std::move(store), ids, options);
}

std::unique_ptr<BatchStream> one_batch(BatchTensors whole) {
  return std::make_unique<WholeGraph>(std::move(whole));
}

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

std::unique_ptr<BatchStream> all_batches(const data::Dataset& dataset,
                                         const data::TargetVocabulary& vocabulary, int64_t batch) {
  if (is_one_graph(dataset)) {
    BatchTensors whole;
    whole.input = whole_input(dataset);
    return one_batch(std::move(whole));
  }
  std::vector<int64_t> ids(static_cast<size_t>(dataset.num_graphs()));
  std::iota(ids.begin(), ids.end(), 0);
  data::LoaderOptions options;
  options.batch_size = batch;
  options.shuffle = false;
  return graph_batches(store_of(dataset, vocabulary), ids, options);
}

}  // namespace egc::inference
