// Scores of a network on the training, validation or test set.
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

// False only for errors (MAE).
inline bool higher_is_better(data::Metric metric) { return metric != data::Metric::kMae; }

// Predictions of labelled items beside their labels. Metrics such as ROC-AUC need all of them.
class Predictions {
 public:
  // `data` must outlive it.
  explicit Predictions(const TaskData& data) : data_(data) {}

  // Adds a batch; output: what Network::forward returned.
  void add(const Tensor& output, const BatchTensors& batch);
  // Collects the predictions of all ranks on every rank.
  void gather(distributed::ProcessGroup& group);
  double score() const;  // the dataset's metric; NaN where it is undefined
  int64_t size() const;  // number of labelled items

  // The confusion matrix: rows are true classes, columns predicted ones; empty for tasks without
  // classes.
  std::vector<std::vector<int64_t>> confusion() const;
  // Predicted probabilities of a binary task, all targets together.
  struct BinaryScores {
    std::vector<float> positives;  // of items labelled 1
    std::vector<float> negatives;  // of items labelled 0
  };
  BinaryScores binary_scores() const;  // empty for other tasks
  // predicted - true of all labelled values of a regression.
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

// Predicts one set of the split. loss: receives the mean loss if not null. In a process group every
// rank computes a share of the batches and all receive all predictions.
Predictions predict_part(models::Network& network, const TaskData& data, Part part, int64_t batch,
                         double* loss = nullptr, distributed::ProcessGroup* group = nullptr);

// count_labels() with the options of this dataset: balanced if all classes count equally.
std::vector<double> batch_counts(const TaskData& data, const Targets& targets);
// loss() with the options of this dataset.
Loss batch_loss(const TaskData& data, const Tensor& output, const Targets& targets,
                const std::vector<double>& counts, WantLoss want = WantLoss::kWithGradient);

}  // namespace egc::train
