// Mini-batches in a seeded order, prepared by a background thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "egc/core/producer.h"
#include "egc/data/partition/graph_store.h"

namespace egc::data {

// Options of a loader.
struct LoaderOptions {
  int64_t batch_size = 64;  // graphs
  bool shuffle = true;      // random order in each epoch
  uint64_t seed = 0;        // of the order
  int prefetch = 2;         // batches prepared ahead; 0: no thread
  // A last batch of fewer graphs joins the one before: batch norm needs at min_batch_size two.
  int64_t min_batch_size = 1;
  // In a process group: this rank's share of every batch.
  int64_t share = 0;
  int64_t shares = 1;  // number of ranks
};

// Batches of some graphs of a dataset, epoch after epoch.
class Loader {
 public:
  // ids: graphs, usually one set of a split. `store` must outlive the loader.
  Loader(const GraphStore& store, std::span<const int64_t> ids, const LoaderOptions& options);
  Loader(const Loader&) = delete;  // not copyable: it has a thread
  Loader& operator=(const Loader&) = delete;

  int64_t num_batches() const;  // per epoch

  // Starts an epoch at a batch. The order depends on seed and epoch only, so these two numbers are
  // all that a checkpoint needs.
  void begin(int64_t epoch, int64_t first_batch = 0);
  std::optional<GraphBatch> next();  // the next batch; nothing at the end of the epoch

 private:
  std::optional<GraphBatch> make();

  const GraphStore& store_;
  LoaderOptions options_;
  std::vector<int64_t> ids_;
  std::vector<int64_t> order_;  // of this epoch
  int64_t at_ = 0;              // the next batch to make; the thread's while there is one
  std::unique_ptr<Producer<GraphBatch>> producer_;
};

// The ids in the order of an epoch.
std::vector<int64_t> epoch_order(std::span<const int64_t> ids, uint64_t seed, int64_t epoch);

}  // namespace egc::data
