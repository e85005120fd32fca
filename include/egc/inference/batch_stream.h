// Datasets as batches that networks take, whether they are many graphs, one, or one with several
// types of nodes.
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

// Batches in a given order. The order of an epoch depends on seed and epoch only.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual int64_t num_batches() const = 0;
  virtual void begin(int64_t epoch, int64_t first_batch) = 0;
  virtual std::optional<BatchTensors> next() = 0;
};

// Of some graphs of a store.
std::unique_ptr<BatchStream> graph_batches(std::shared_ptr<const data::GraphStore> store,
                                           std::span<const int64_t> ids,
                                           const data::LoaderOptions& options);
std::unique_ptr<BatchStream> one_batch(BatchTensors whole);
// All graphs of a dataset, or the whole of one, in order; targets are of no use.
std::unique_ptr<BatchStream> all_batches(const data::Dataset& dataset,
                                         const data::TargetVocabulary& vocabulary, int64_t batch);

// Whether the dataset is one graph, computed whole.
bool is_one_graph(const data::Dataset& dataset);
models::ModelInput whole_input(const data::Dataset& dataset);
models::ModelInput hetero_input(const data::Dataset& dataset, HeteroGraph graph);
std::shared_ptr<const data::GraphStore> store_of(const data::Dataset& dataset,
                                                 const data::TargetVocabulary& vocabulary);

// The dataset's own memory, which nobody writes; the owner keeps it alive.
Tensor borrow(const data::Matrix<float>& matrix);
models::Categories borrow(const data::Matrix<int32_t>& matrix);

}  // namespace egc::inference
