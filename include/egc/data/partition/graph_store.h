// All graphs of a dataset as networks take them, ready to be put into batches by copying rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/target_vocabulary.h"
#include "egc/data/training_edges.h"
#include "egc/graph/batch.h"

namespace egc::data {

// Plain buffers: training wraps them as tensors without copying.
struct GraphBatch {
  std::vector<int64_t> ids;  // which graphs, in their order here
  Batch graphs;
  // What is there does not depend on the graphs: a batch without nodes has features of that kind
  // too.
  bool is_categorical = false;
  bool has_classes = false;
  std::vector<float> floats;        // [N, columns] node features (none: a constant 1), or
  std::vector<int32_t> categories;  // [N, columns]
  int64_t columns = 0;
  // Labels of the graphs, or of all their nodes: values [rows, targets] with NaN for none, classes
  // [rows] with -1 for none, or tokens [graphs, length].
  std::vector<float> values;
  std::vector<int64_t> classes;
  int64_t label_columns = 1;
};

class GraphStore {
 public:
  // The dataset must have homogeneous graphs; it is shared, not copied. `vocabulary` encodes the
  // labels of sequence tasks.
  explicit GraphStore(Dataset dataset, const EdgeRules& rules, TargetVocabulary vocabulary = {});
  explicit GraphStore(const Dataset& dataset) : GraphStore(dataset, EdgeRules::of(dataset)) {}

  const Dataset& dataset() const { return dataset_; }
  const TargetVocabulary& vocabulary() const { return vocabulary_; }
  int64_t num_edges() const { return static_cast<int64_t>(sources_.size()); }

  GraphBatch batch(std::span<const int64_t> ids) const;

 private:
  void copy_labels(GraphBatch& to) const;

  Dataset dataset_;
  TargetVocabulary vocabulary_;
  // Compressed rows of every node; sources count within their graph.
  std::vector<int64_t> offsets_;
  std::vector<int32_t> sources_;
};

}  // namespace egc::data
