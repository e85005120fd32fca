#include "egc/inference/model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/data/edge_schema.h"
#include "egc/data/encodings.h"
#include "egc/data/standardize.h"
#include "egc/inference/batch_stream.h"
#include "egc/inference/dataset_fit.h"
#include "egc/models/ensemble.h"
#include "egc/ops/likeliest.h"

namespace egc::inference {
namespace {

void softmax(float* x, int64_t n) {
  const float most = *std::max_element(x, x + n);
  float sum = 0;
  for (int64_t k = 0; k < n; ++k) sum += x[k] = std::exp(x[k] - most);
  for (int64_t k = 0; k < n; ++k) x[k] /= sum;
}

// What a network gives, in place, as what its users read: values or probabilities.
void to_answers(Task task, std::span<float> x, int64_t columns) {
  const auto each = [&](auto f) { std::transform(x.begin(), x.end(), x.begin(), f); };
  switch (task) {
    case Task::kGraphRegression:
    case Task::kGraphSequence:
      return;
    case Task::kGraphBinary:
      return each([](float v) { return 1 / (1 + std::exp(-v)); });
    case Task::kGraphClassification:
      for (size_t k = 0; k < x.size(); k += static_cast<size_t>(columns))
        softmax(x.data() + k, columns);
      return;
    case Task::kNodeClassification:
    case Task::kNodeClassificationHetero:
      return each([](float v) { return std::exp(v); });
  }
}

void append(PredictionTable& to, const Tensor& output, Task task,
            const data::TargetVocabulary& vocabulary) {
  to.rows += output.rows();
  if (task == Task::kGraphSequence) {
    std::vector<int64_t> words;
    ops::append_likeliest(words, output, output.columns() / vocabulary.length());
    const auto length = static_cast<size_t>(vocabulary.length());
    for (size_t k = 0; k < words.size(); k += length)
      to.words.push_back(vocabulary.decode({words.data() + k, length}));
    return;
  }
  to.columns = output.columns();
  const size_t before = to.values.size();
  to.values.insert(to.values.end(), output.data<float>(), output.data<float>() + output.size());
  to_answers(task, std::span(to.values).subspan(before), to.columns);
  if (task == Task::kGraphRegression || task == Task::kGraphBinary) return;
  ops::append_likeliest(to.classes, output, to.columns);
}

// Features are read by their place: tables with other columns, or other categories, do not fit.
void check_same_columns(const std::vector<data::FeatureColumn>& trained,
                        const data::DatasetInfo& info) {
  if (trained.empty() || info.columns.empty()) return;
  const auto spell = [](const std::vector<data::FeatureColumn>& columns) {
    std::string out;
    for (const data::FeatureColumn& c : columns) out += (out.empty() ? "" : ", ") + c.name;
    return out;
  };
  const auto same = [](const data::FeatureColumn& a, const data::FeatureColumn& b) {
    return a.name == b.name && a.is_text == b.is_text && a.values == b.values;
  };
  check(trained.size() == info.columns.size(),
        "{} has the columns {}, but the model was trained on {}; predict from the tables with "
        "--nodes and --edges",
        info.name, spell(info.columns), spell(trained));
  for (size_t k = 0; k < trained.size(); ++k)
    check(same(trained[k], info.columns[k]),
          "{}: column {} is \"{}\", but the model was trained on \"{}\"{}; predict from the tables "
          "with --nodes and --edges",
          info.name, k + 1, info.columns[k].name, trained[k].name,
          trained[k].name == info.columns[k].name ? " with other categories" : "");
}

std::string spell_list(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

std::filesystem::path model_path(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return path;
  const std::filesystem::path model = path / "best.safetensors";
  if (!std::filesystem::exists(model))
    fail(ErrorKind::kModel, "{}: expected a run or a model file, found {}", path.string(),
         std::filesystem::exists(path / "dataset.json") || std::filesystem::exists(path / "raw")
             ? "a dataset (egc data info shows it)"
             : "a directory without best.safetensors");
  return model;
}

Model Model::load(const std::filesystem::path& path) {
  Model model;
  const auto file = model_path(path);
  models::LoadedNetwork loaded = models::load_network(file);
  model.network_ = std::move(loaded.network);
  model.network_->to(DType::kF32);  // as datasets are
  model.notes_ = std::move(loaded.notes);
  const auto it = model.notes_.find("dataset");
  if (it == model.notes_.end())
    fail(ErrorKind::kModel, "{}: the model does not record what it was trained on", file.string());
  const std::string where = file.string() + ": dataset";
  try {
    model.info_ = data::parse_info(it->second, where).info;
    if (const auto words = model.notes_.find("vocabulary"); words != model.notes_.end())
      model.vocabulary_ =
          data::TargetVocabulary(parse_json<nlohmann::json>(words->second, where, ErrorKind::kModel)
                                     .get<std::vector<std::string>>(),
                                 model.config().sequence_length);
  } catch (const std::exception& e) {
    fail(ErrorKind::kModel, "{}", e.what());
  }
  const bool words = model.config().task == Task::kGraphSequence;
  const bool values =
      model.config().task == Task::kGraphRegression || model.config().task == Task::kGraphBinary;
  const int64_t outputs = words    ? model.vocabulary_.size()
                          : values ? model.info_.num_targets
                                   : model.info_.num_classes;
  if (model.info_.task != model.config().task ||
      (words ? !model.notes_.contains("vocabulary") : false) ||
      (words ? outputs > model.config().outputs : outputs != model.config().outputs))
    fail(ErrorKind::kModel,
         "{}: the task {} with {} outputs does not match the network's {} with {} outputs", where,
         tasks().name_of(model.info_.task), outputs, tasks().name_of(model.config().task),
         model.config().outputs);
  return model;
}

Model Model::load_ensemble(const std::vector<std::filesystem::path>& paths) {
  Model model = load(paths.at(0));
  if (paths.size() == 1) return model;
  std::vector<std::shared_ptr<models::Network>> networks = {model.network_};
  for (size_t k = 1; k < paths.size(); ++k) {
    const Model other = load(paths[k]);
    if (other.info_ != model.info_ || other.vocabulary_.words() != model.vocabulary_.words())
      fail(ErrorKind::kModel,
           "{} and {} were trained on different data, so they cannot form an ensemble",
           paths[0].string(), paths[k].string());
    if (other.config().encode != model.config().encode)
      fail(ErrorKind::kModel,
           "{} and {} read different encodings of nodes ({} and {}), so they cannot form an "
           "ensemble",
           paths[0].string(), paths[k].string(), spell_list(model.config().encode),
           spell_list(other.config().encode));
    networks.push_back(other.network_);
  }
  model.network_ = std::make_shared<models::Ensemble>(std::move(networks));
  return model;
}

void Model::check_input(const data::Dataset& dataset) const {
  try {
    check_fits(config(), dataset);
    check_same_columns(info_.columns, dataset.info);
    data::check_edge_weights(info_, dataset, dataset.info.name);
    if (uses_edge_features(config())) data::check_edge_schema(info_, dataset, dataset.info.name);
  } catch (const Error& e) {
    fail(ErrorKind::kData, "{}", e.what());
  }
}

data::Dataset Model::prepare(const data::Dataset& dataset) const {
  check_input(dataset);
  const data::Dataset scaled = data::standardized_edges(
      data::standardized(seen_by(config(), dataset), info_.scaling), info_.edge_scaling);
  return data::with_encodings(scaled, config().encode);
}

PredictionTable Model::predict(const data::Dataset& dataset, int64_t batch) {
  const auto stream = all_batches(prepare(dataset), vocabulary_, batch);
  PredictionTable out;
  stream->begin(0, 0);
  while (const auto tensors = stream->next()) {
    Tape tape = Tape::inference();
    append(out, network_->forward(tape, tensors->input), config().task, vocabulary_);
  }
  return out;
}

}  // namespace egc::inference
