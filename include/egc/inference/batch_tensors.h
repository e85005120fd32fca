// Batches as networks and losses take them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "egc/data/partition/graph_store.h"
#include "egc/models/network.h"

namespace egc::inference {

// Target values or labels, by row; one of the two spans is set.
struct Targets {
  std::span<const float> values;      // [rows, columns]; NaN: no label
  std::span<const int64_t> classes;   // [rows], or tokens [graphs, length]; -1: no label
  int64_t columns = 1;                // of values, or the length of sequences
  std::shared_ptr<const void> owner;  // keeps the spans alive; null: the caller does
};

// Input and targets of a batch.
struct BatchTensors {
  models::ModelInput input;  // what the network reads
  Targets targets;           // items outside the requested set have no label
  std::vector<int64_t> ids;  // ids of the graphs; empty for one large graph
};

// Wraps a batch of the loader without copying; the result keeps it alive.
BatchTensors to_tensors(data::GraphBatch batch);

}  // namespace egc::inference
