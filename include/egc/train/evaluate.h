// Scores of a network over a part of a split.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "egc/distributed/process_group.h"
#include "egc/models/network.h"
#include "egc/train/loss.h"
#include "egc/train/task_data.h"

namespace egc::train {

inline bool higher_is_better(data::Metric metric) { return metric != data::Metric::kMae; }

// What a network said of labelled items, beside the truth; the metric needs all of them.
class Predictions {
 public:
  // `data` must outlive it.
  explicit Predictions(const TaskData& data) : data_(data) {}

  void add(const Tensor& output, const BatchTensors& batch);
  // Those of all ranks, on every rank.
  void gather(distributed::ProcessGroup& group);
  double score() const;
  int64_t size() const;  // labelled items

  // Rows are true classes, columns predicted ones, with counts; empty for tasks without classes.
  std::vector<std::vector<int64_t>> confusion() const;
  // Probabilities of what a binary task labels positive and negative, of all targets.
  struct BinaryScores {
    std::vector<float> positives, negatives;
  };
  BinaryScores binary_scores() const;
  // predicted - true of a regression's labelled values.
  std::vector<float> errors() const;

 private:
  const TaskData& data_;
  std::vector<float> values_;  // regression and binary tasks: [items, targets]
  std::vector<float> value_labels_;
  std::vector<int64_t> classes_;  // the rest; sequences: [graphs, length]
  std::vector<int64_t> class_labels_;
  std::vector<std::vector<int64_t>> words_;  // sequences
  std::unordered_map<std::string, int64_t> word_numbers_;
};

// A group shares the batches among its ranks; all of them have everything in the end.
Predictions predict_part(models::Network& network, const TaskData& data, Part part, int64_t batch,
                         double* loss = nullptr, distributed::ProcessGroup* group = nullptr);

// count_labels() and loss() as this dataset is trained: balanced where every class counts the same.
std::vector<double> batch_counts(const TaskData& data, const Targets& targets);
Loss batch_loss(const TaskData& data, const Tensor& output, const Targets& targets,
                const std::vector<double>& counts, WantLoss want = WantLoss::kWithGradient);

}  // namespace egc::train
