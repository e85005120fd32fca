// The task that a network is trained for and that a dataset has labels for.
#pragma once

#include "egc/core/named_table.h"

namespace egc {

// What is predicted: per graph values, one of several classes, one or more yes/no targets, or a
// sequence of words; per node one of several classes, in ordinary or heterogeneous graphs.
enum class Task {
  kGraphRegression,
  kGraphClassification,
  kGraphBinary,
  kGraphSequence,
  kNodeClassification,
  kNodeClassificationHetero
};

// Names of the tasks, as in dataset.json.
const NamedTable<Task>& tasks();

// Whether labels belong to graphs; otherwise they belong to nodes.
inline bool is_graph_task(Task task) {
  return task != Task::kNodeClassification && task != Task::kNodeClassificationHetero;
}

}  // namespace egc
