// The graphs of a dataset as networks see them, prepared for batching.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/target_vocabulary.h"
#include "egc/data/training_edges.h"
#include "egc/graph/batch.h"

namespace egc::data {

// A batch as plain arrays, which inference::to_tensors() wraps without copying.
struct GraphBatch {
  std::vector<int64_t> ids;  // graphs of the batch, in order
  Batch graphs;              // nodes and edges
  // Type of the features: `categories` or `floats`. Depends on the dataset only.
  bool is_categorical = false;
  bool has_classes = false;         // type of the labels: `classes` or `values`
  std::vector<float> floats;        // [N, columns] node features; a constant 1 if there are none
  std::vector<int32_t> categories;  // [N, columns] node features
  int64_t columns = 0;              // number of features
  std::vector<float> encodings;     // [N, encoding_columns]; empty if the dataset has none
  int64_t encoding_columns = 0;     // of Dataset::encodings
  // Labels of graphs or nodes: [rows, label_columns]; NaN: no label.
  std::vector<float> values;
  std::vector<int64_t> classes;  // [rows], or tokens [graphs, length]; -1: no label
  int64_t label_columns = 1;     // targets, or the length of sequences
};

// Prepared graphs; a batch copies rows.
class GraphStore {
 public:
  // Prepares the graphs of a homogeneous dataset. `vocabulary` encodes the labels of sequence
  // tasks.
  explicit GraphStore(Dataset dataset, const EdgeRules& rules, TargetVocabulary vocabulary = {});
  // As above, with the edge rules of the dataset.
  explicit GraphStore(const Dataset& dataset) : GraphStore(dataset, EdgeRules::of(dataset)) {}

  const Dataset& dataset() const { return dataset_; }                 // the data
  const TargetVocabulary& vocabulary() const { return vocabulary_; }  // of sequence tasks
  // In all graphs, as networks see them.
  int64_t num_edges() const { return static_cast<int64_t>(sources_.size()); }

  GraphBatch batch(std::span<const int64_t> ids) const;  // a batch of these graphs

 private:
  void copy_labels(GraphBatch& to) const;

  Dataset dataset_;
  TargetVocabulary vocabulary_;
  // Compressed rows of every node; sources count within their graph.
  std::vector<int64_t> offsets_;
  std::vector<int32_t> sources_;
  EdgeFeatures edge_features_;  // of these edges
  std::vector<float> weights_;  // of edges, or empty
};

}  // namespace egc::data
