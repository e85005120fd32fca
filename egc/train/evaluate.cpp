#include "egc/train/evaluate.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstring>
#include <type_traits>

#include "egc/core/error.h"
#include "egc/train/loss.h"
#include "egc/train/metrics.h"

namespace egc::train {
namespace {

template <class T>
void append(std::vector<T>& to, const at::Tensor& from) {
  const at::Tensor t = from.contiguous();
  to.insert(to.end(), t.data_ptr<T>(), t.data_ptr<T>() + t.numel());
}

// In order of the ranks: the same bits on all of them.
at::Tensor sum_of(const std::vector<at::Tensor>& parts) {
  at::Tensor sum = at::zeros_like(parts.at(0));
  for (const at::Tensor& part : parts) sum += part;
  return sum;
}

}  // namespace

void Predictions::add(const at::Tensor& output, const BatchTensors& batch) {
  switch (data_.dataset().info.task) {
    case Task::kGraphRegression:
    case Task::kGraphBinary:
      append(values_, output);
      append(value_labels_, batch.target);
      return;
    case Task::kGraphSequence:
      append(classes_, output.argmax(2));
      for (const int64_t id : batch.ids) {
        auto& truth = words_.emplace_back();
        const auto& vocabulary = data_.vocabulary();
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
    default:
      break;
  }
  const at::Tensor guess = output.argmax(1);
  const int64_t* labels = batch.target.data_ptr<int64_t>();
  for (int64_t i = 0; i < batch.target.numel(); ++i) {
    if (labels[i] < 0) continue;
    classes_.push_back(guess.data_ptr<int64_t>()[i]);
    class_labels_.push_back(labels[i]);
  }
}

void Predictions::gather(distributed::Group& group) {
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

std::vector<float> Predictions::errors() const {
  std::vector<float> out;
  if (data_.dataset().info.task != Task::kGraphRegression) return out;
  for (size_t k = 0; k < values_.size(); ++k)
    if (!std::isnan(value_labels_[k])) out.push_back(values_[k] - value_labels_[k]);
  return out;
}

Predictions predict_part(models::Network& network, const TaskData& data, Part part, int64_t batch,
                         double* loss, distributed::Group* group) {
  struct Mode {
    models::Network& network;
    bool training;
    ~Mode() { network.train(training); }
  } const mode{network, network.is_training()};
  network.eval();
  const at::NoGradGuard no_grad;
  Predictions predictions(data);
  double sum = 0;
  double items = 0;
  const auto stream = data.in_order(part, batch);
  stream->begin(0, 0);
  for (int64_t k = 0; const auto tensors = stream->next(); ++k) {
    const bool mine = data.is_part() || group == nullptr || k % group->size() == group->rank();
    if (!mine) continue;
    const at::Tensor output = network.forward(tensors->input);
    predictions.add(output, *tensors);
    if (loss == nullptr) continue;
    const double n = labelled_items(data.dataset().info.task, tensors->target);
    sum += batch_loss(data, output, tensors->target).item<double>() * n;
    items += n;
  }
  if (group != nullptr) {
    predictions.gather(*group);
    const at::Tensor both = sum_of(group->gather(at::tensor({sum, items}, at::kDouble)));
    sum = both[0].item<double>();
    items = both[1].item<double>();
  }
  if (loss != nullptr) *loss = items > 0 ? sum / items : 0;
  return predictions;
}

at::Tensor batch_loss(const TaskData& data, const at::Tensor& output, const at::Tensor& target,
                      distributed::Group* group) {
  const data::DatasetInfo& info = data.dataset().info;
  const bool balanced = info.metric == data::Metric::kWeightedAccuracy;
  if (group == nullptr) return loss(info.task, output, target, balanced);
  const at::Tensor counts =
      sum_of(group->gather(count_labels(info.task, output, target, balanced)));
  return loss(info.task, output, target, balanced, counts);
}

double labelled_items(Task task, const at::Tensor& target) {
  const bool values = task == Task::kGraphRegression || task == Task::kGraphBinary;
  const at::Tensor labelled = values ? target.isnan().logical_not() : target.ge(0);
  return static_cast<double>(labelled.sum().item<int64_t>());
}

}  // namespace egc::train
