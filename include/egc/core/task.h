// What a network is trained for; what a dataset is labelled for.
#pragma once

#include "egc/core/named_table.h"

namespace egc {

enum class Task {
  kGraphRegression,
  kGraphClassification,
  kGraphBinary,
  kGraphSequence,
  kNodeClassification,
  kNodeClassificationHetero
};

const NamedTable<Task>& tasks();

// Whether whole graphs carry the labels, not nodes.
inline bool is_graph_task(Task task) {
  return task != Task::kNodeClassification && task != Task::kNodeClassificationHetero;
}

}  // namespace egc
