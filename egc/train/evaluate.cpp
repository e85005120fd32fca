#include "egc/train/evaluate.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "egc/core/error.h"
#include "egc/ops/likeliest.h"
#include "egc/train/metrics.h"

namespace egc::train {
namespace {

bool is_balanced(const TaskData& data) {
  return data.dataset().info.metric == data::Metric::kWeightedAccuracy;
}

}  // namespace

void Predictions::add(const Tensor& output, const BatchTensors& batch) {
  switch (data_.dataset().info.task) {
    case Task::kGraphRegression:
    case Task::kGraphBinary:
      values_.insert(values_.end(), output.data<float>(), output.data<float>() + output.size());
      value_labels_.insert(value_labels_.end(), batch.targets.values.begin(),
                           batch.targets.values.end());
      return;
    case Task::kGraphSequence: {
      const auto& vocabulary = data_.vocabulary();
      ops::append_likeliest(classes_, output, output.columns() / vocabulary.length());
      for (const int64_t id : batch.ids) {
        auto& truth = words_.emplace_back();
        if (word_numbers_.empty())
          for (size_t k = 0; k < vocabulary.words().size(); ++k)
            word_numbers_.emplace(vocabulary.words()[k], static_cast<int64_t>(k));
        // A word that the vocabulary lacks gets a number that no network predicts: below 0, as a
        // network may have more outputs than the vocabulary has words.
        for (const auto word : data::split_words(data_.dataset().labels.tokens[id]))
          truth.push_back(
              word_numbers_
                  .try_emplace(std::string(word), -1 - static_cast<int64_t>(word_numbers_.size()))
                  .first->second);
      }
      return;
    }
    default:
      break;
  }
  const auto& labels = batch.targets.classes;
  const float* x = output.data<float>();
  for (size_t i = 0; i < labels.size(); ++i, x += output.columns()) {
    if (labels[i] < 0) continue;
    classes_.push_back(ops::likeliest(x, output.columns()));
    class_labels_.push_back(labels[i]);
  }
}

void Predictions::gather(distributed::ProcessGroup& group) {
  const auto of_all = [&](auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    const std::string mine(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    values.clear();
    for (const std::string& part : group.gather(mine)) {
      const size_t before = values.size();
      values.resize(before + part.size() / sizeof(T));
      std::memcpy(values.data() + before, part.data(), part.size());
    }
  };
  of_all(values_);
  of_all(value_labels_);
  of_all(classes_);
  of_all(class_labels_);
  std::vector<int64_t> lengths;
  std::vector<int64_t> words;
  for (const auto& sequence : words_) {
    lengths.push_back(static_cast<int64_t>(sequence.size()));
    words.insert(words.end(), sequence.begin(), sequence.end());
  }
  of_all(lengths);
  of_all(words);
  words_.clear();
  auto at = words.begin();
  for (const int64_t length : lengths) {
    words_.emplace_back(at, at + length);
    at += length;
  }
}

double Predictions::score() const {
  const data::DatasetInfo& info = data_.dataset().info;
  switch (info.metric) {
    case data::Metric::kMae:
      return mean_absolute_error(values_, value_labels_);
    case data::Metric::kRocAuc:
      return roc_auc_of_columns(values_, value_labels_, info.num_targets);
    case data::Metric::kAccuracy:
      return accuracy(classes_, class_labels_);
    case data::Metric::kWeightedAccuracy:
      return weighted_accuracy(classes_, class_labels_, info.num_classes);
    case data::Metric::kF1:
      return subtoken_f1(classes_, words_, data_.vocabulary().length(), data_.vocabulary().end());
  }
  fail(ErrorKind::kUsage, "score: unknown metric");
}

int64_t Predictions::size() const {
  if (!words_.empty()) return static_cast<int64_t>(words_.size());
  if (!class_labels_.empty()) return static_cast<int64_t>(class_labels_.size());
  int64_t labelled = 0;
  for (const float label : value_labels_) labelled += std::isnan(label) ? 0 : 1;
  return labelled;
}

std::vector<std::vector<int64_t>> Predictions::confusion() const {
  if (class_labels_.empty()) return {};
  const auto classes = static_cast<size_t>(data_.dataset().info.num_classes);
  std::vector<std::vector<int64_t>> counts(classes, std::vector<int64_t>(classes, 0));
  for (size_t k = 0; k < classes_.size(); ++k)
    ++counts[static_cast<size_t>(class_labels_[k])][static_cast<size_t>(classes_[k])];
  return counts;
}

Predictions::BinaryScores Predictions::binary_scores() const {
  BinaryScores out;
  if (data_.dataset().info.task != Task::kGraphBinary) return out;
  for (size_t k = 0; k < values_.size(); ++k)
    if (!std::isnan(value_labels_[k]) && !std::isnan(values_[k]))
      (value_labels_[k] > 0 ? out.positives : out.negatives)
          .push_back(1 / (1 + std::exp(-values_[k])));
  return out;
}

std::vector<float> Predictions::errors() const {
  std::vector<float> out;
  if (data_.dataset().info.task != Task::kGraphRegression) return out;
  for (size_t k = 0; k < values_.size(); ++k)
    if (!std::isnan(value_labels_[k])) out.push_back(values_[k] - value_labels_[k]);
  return out;
}

Predictions predict_part(models::Network& network, const TaskData& data, Part part, int64_t batch,
                         double* loss, distributed::ProcessGroup* group) {
  Predictions predictions(data);
  double sum = 0;
  double items = 0;
  const auto stream = data.in_order(part, batch);
  stream->begin(0, 0);
  for (int64_t k = 0; const auto tensors = stream->next(); ++k) {
    const bool mine = data.is_part() || group == nullptr || k % group->size() == group->rank();
    if (!mine) continue;
    Tape tape = Tape::inference();
    const Tensor output = network.forward(tape, tensors->input);
    predictions.add(output, *tensors);
    if (loss == nullptr) continue;
    const std::vector<double> counts = batch_counts(data, tensors->targets);
    const double n = std::accumulate(counts.begin(), counts.end(), 0.0);
    sum += batch_loss(data, output, tensors->targets, counts, WantLoss::kValue).value * n;
    items += n;
  }
  if (group != nullptr) {
    predictions.gather(*group);
    const double mine[] = {sum, items};
    const std::vector<double> all = group->gather(mine);
    sum = items = 0;
    for (size_t k = 0; k < all.size(); k += 2) {
      sum += all[k];
      items += all[k + 1];
    }
  }
  if (loss != nullptr) *loss = items > 0 ? sum / items : 0;
  return predictions;
}

std::vector<double> batch_counts(const TaskData& data, const Targets& targets) {
  const data::DatasetInfo& info = data.dataset().info;
  return count_labels(info.task, targets, is_balanced(data), info.num_classes);
}

Loss batch_loss(const TaskData& data, const Tensor& output, const Targets& targets,
                const std::vector<double>& counts, WantLoss want) {
  return loss(data.dataset().info.task, output, targets, is_balanced(data), counts, want);
}

}  // namespace egc::train
