// A batch of the loader as networks and losses take it, sharing its memory.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "egc/data/partition/graph_store.h"
#include "egc/models/network.h"

namespace egc::inference {

// What the loss compares with, row after row; one of the two is there.
struct Targets {
  std::span<const float> values;     // [rows, columns]; NaN: no label
  std::span<const int64_t> classes;  // [rows], or tokens [graphs, length]; -1: no label
  int64_t columns = 1;
  std::shared_ptr<const void> owner;  // keeps them alive; null: the caller does
};

struct BatchTensors {
  models::ModelInput input;
  Targets targets;           // labels of a part of the split that is not asked for are missing
  std::vector<int64_t> ids;  // which graphs; empty for one large graph
};

// The tensors keep the batch alive.
BatchTensors to_tensors(data::GraphBatch batch);

}  // namespace egc::inference
