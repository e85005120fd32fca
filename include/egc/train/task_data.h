// A dataset as training uses it: batches of the sets of a split.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egc/data/dataset.h"
#include "egc/data/partition/dataset_part.h"
#include "egc/data/target_vocabulary.h"
#include "egc/inference/batch_stream.h"

namespace egc::train {

// The training, validation or test set of a split.
enum class Part { kTrain, kValid, kTest };
const NamedTable<Part>& parts();  // names: train, valid, test

using inference::BatchStream;
using inference::BatchTensors;

// A dataset with one of its splits.
class TaskData {
 public:
  // Uses the named split. If it has no validation set, a tenth of the training set becomes one.
  // words, length: vocabulary size and sequence length of sequence tasks.
  TaskData(const data::Dataset& dataset, const std::string& split, int64_t words = 5000,
           int64_t length = 5);
  // As above, with the vocabulary of a trained model.
  TaskData(const data::Dataset& dataset, const std::string& split,
           data::TargetVocabulary vocabulary);
  // One partition of a large graph.
  TaskData(const data::DatasetPart& part, const std::string& split);
  ~TaskData();                    // frees prepared graphs
  TaskData(TaskData&&) noexcept;  // moves them

  const data::Dataset& dataset() const;              // the data
  const data::TargetVocabulary& vocabulary() const;  // of sequence tasks
  bool is_part() const;                              // whether it is a partition of a graph
  // Ids of the set's graphs, or nodes if there is one graph.
  std::span<const int64_t> ids(Part part) const;
  // The mean of log(degree + 1) over the nodes of the training set, for PNA.
  double mean_log_degree() const;

  // Batches in random order, of at least two graphs each, for training. With several ranks: share
  // `share` of `shares` of each batch.
  std::unique_ptr<BatchStream> shuffled(Part part, int64_t batch, uint64_t seed, int64_t share = 0,
                                        int64_t shares = 1) const;
  // Batches in the order of the ids, for evaluation.
  std::unique_ptr<BatchStream> in_order(Part part, int64_t batch) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace egc::train
