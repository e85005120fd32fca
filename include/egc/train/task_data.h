// A dataset as a network is trained on it: batches of the parts of a split, whether it is many
// graphs, one, or one with several types of nodes.
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

enum class Part { kTrain, kValid, kTest };
const NamedTable<Part>& parts();

using inference::BatchStream;
using inference::BatchTensors;

class TaskData {
 public:
  // Parts of the split as given; without a validation set a tenth of train is taken for it. `words`
  // and `length`: of the vocabulary of a sequence task.
  TaskData(const data::Dataset& dataset, const std::string& split, int64_t words = 5000,
           int64_t length = 5);
  // With a vocabulary that there is already.
  TaskData(const data::Dataset& dataset, const std::string& split,
           data::TargetVocabulary vocabulary);
  // One of several processes' part of one large graph.
  TaskData(const data::DatasetPart& part, const std::string& split);
  ~TaskData();
  TaskData(TaskData&&) noexcept;

  const data::Dataset& dataset() const;
  const data::TargetVocabulary& vocabulary() const;
  bool is_part() const;
  // Graphs, or nodes where there is one graph.
  std::span<const int64_t> ids(Part part) const;
  // Mean of log(degree + 1) over the nodes that are trained on: what PNA scales by.
  double mean_log_degree() const;

  // Shuffled by the seed, every batch of at least two graphs: for training. Of each the part of one
  // of `shares` processes; of one large graph they must have parts.
  std::unique_ptr<BatchStream> shuffled(Part part, int64_t batch, uint64_t seed, int64_t share = 0,
                                        int64_t shares = 1) const;
  // In the order of the ids.
  std::unique_ptr<BatchStream> in_order(Part part, int64_t batch) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace egc::train
