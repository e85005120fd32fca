// Datasets as streams of batches, for many graphs, one graph, or one heterogeneous graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "egc/data/dataset.h"
#include "egc/data/loader.h"
#include "egc/data/target_vocabulary.h"
#include "egc/inference/batch_tensors.h"

namespace egc::inference {

// Batches of an epoch, in an order that depends on seed and epoch only.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual int64_t num_batches() const = 0;                     // per epoch
  virtual void begin(int64_t epoch, int64_t first_batch) = 0;  // starts an epoch at a batch
  virtual std::optional<BatchTensors> next() = 0;              // the next batch; nothing at the end
};

// Batches of the graphs `ids` of a store.
std::unique_ptr<BatchStream> graph_batches(std::shared_ptr<const data::GraphStore> store,
                                           std::span<const int64_t> ids,
                                           const data::LoaderOptions& options);
// A stream of one batch, for full-batch training.
std::unique_ptr<BatchStream> one_batch(BatchTensors whole);
// All graphs of a dataset in order, `batch` at a time, or its only graph. For predictions: targets
// are not meaningful.
std::unique_ptr<BatchStream> all_batches(const data::Dataset& dataset,
                                         const data::TargetVocabulary& vocabulary, int64_t batch);

// Whether the dataset is one graph, which is computed in full batches.
bool is_one_graph(const data::Dataset& dataset);
// The input of a dataset with one graph.
models::ModelInput whole_input(const data::Dataset& dataset);
// The input of a heterogeneous dataset; `graph`: its edges, or those of a partition.
models::ModelInput hetero_input(const data::Dataset& dataset, HeteroGraph graph);
// The graphs of a dataset, ready for batches.
std::shared_ptr<const data::GraphStore> store_of(const data::Dataset& dataset,
                                                 const data::TargetVocabulary& vocabulary);

// A dataset's matrix without a copy; the result keeps it alive.
Tensor borrow(const data::Matrix<float>& matrix);
// As above, for categorical features.
models::Categories borrow(const data::Matrix<int32_t>& matrix);

}  // namespace egc::inference
