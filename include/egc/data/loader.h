// Mini-batches in a seeded order, made by a thread of their own ahead of training.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "egc/core/producer.h"
#include "egc/data/partition/graph_store.h"

namespace egc::data {

struct LoaderOptions {
  int64_t batch_size = 64;
  bool shuffle = true;
  uint64_t seed = 0;
  int prefetch = 2;  // batches ahead; 0: made when asked for
  // A last batch of fewer joins the one before: batch norm cannot train on one graph.
  int64_t min_batch_size = 1;
  // Of every batch the part that falls to this one of several processes.
  int64_t share = 0;
  int64_t shares = 1;
};

class Loader {
 public:
  // ids: the graphs of one part of a split. `store` must outlive the loader.
  Loader(const GraphStore& store, std::span<const int64_t> ids, const LoaderOptions& options);
  Loader(const Loader&) = delete;  // its thread knows where it is
  Loader& operator=(const Loader&) = delete;

  int64_t num_batches() const;

  // The order of an epoch is a function of seed and epoch alone: a checkpoint that has the epoch
  // and the number of batches taken can go on from there.
  void begin(int64_t epoch, int64_t first_batch = 0);
  std::optional<GraphBatch> next();

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
