#include "egc/core/task.h"

namespace egc {

const NamedTable<Task>& tasks() {
  static const NamedTable<Task> table(
      "task", {{"graph-regression", Task::kGraphRegression},
               {"graph-classification", Task::kGraphClassification},
               {"graph-binary", Task::kGraphBinary},
               {"graph-sequence", Task::kGraphSequence},
               {"node-classification", Task::kNodeClassification},
               {"node-classification-hetero", Task::kNodeClassificationHetero}});
  return table;
}

}  // namespace egc
