// A model's predictions, written line by line while the input is read.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/torch/module.h"
#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/train/predictor.h"

namespace egc::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// The file, which appears when it is complete, or stdout.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  void write(const std::string& text) {
    if (file_)
      file_->write(text.data(), text.size());
    else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      fail(ErrorKind::kSystem, "stdout cannot be written");
  }
  void finish() {
    if (file_) file_->commit();
    if (!file_ && std::fflush(stdout) != 0) fail(ErrorKind::kSystem, "stdout cannot be written");
  }

 private:
  std::optional<AtomicFile> file_;
};

class Lines {
 public:
  Lines(const train::Predictor& model, PredictFormat format) : format_(format) {
    const data::DatasetInfo& info = model.trained_on();
    task_ = info.task;
    const bool values = task_ == Task::kGraphRegression || task_ == Task::kGraphBinary;
    const auto& names = values ? info.target_names : info.class_names;
    for (int64_t k = 0; k < model.config().outputs; ++k) {
      std::string name = k < std::ssize(names)                   ? names[static_cast<size_t>(k)]
                         : values && model.config().outputs == 1 ? "value"
                                                                 : std::to_string(k);
      classes_.push_back(name);
      const bool unnamed = values && names.empty() && model.config().outputs == 1;
      columns_.push_back(task_ == Task::kGraphRegression ? name
                         : unnamed                       ? "probability"  // not "p_value"
                                                         : "p_" + name);
    }
  }

  std::string header(bool named) const {
    if (format_ == PredictFormat::kJsonLines) return "";
    std::string out = named ? "id,name" : "id";
    if (task_ == Task::kGraphSequence) return out + ",words\n";
    if (task_ != Task::kGraphRegression && task_ != Task::kGraphBinary) out += ",class";
    for (const std::string& name : columns_) out += "," + csv_field(name);
    return out + "\n";
  }

  std::string line(int64_t id, const std::string* name, const train::PredictionTable& table,
                   size_t row) const {
    return format_ == PredictFormat::kCsv ? csv(id, name, table, row) : json(id, name, table, row);
  }

 private:
  std::string csv(int64_t id, const std::string* name, const train::PredictionTable& t,
                  size_t row) const {
    std::string out = std::to_string(id);
    if (name != nullptr) out += "," + csv_field(*name);
    if (!t.words.empty())
      return out + "," + csv_field(fmt::format("{}", fmt::join(t.words[row], " "))) + "\n";
    if (!t.classes.empty()) out += "," + csv_field(classes_[static_cast<size_t>(t.classes[row])]);
    for (int64_t k = 0; k < t.columns; ++k)
      out += fmt::format(",{}",
                         t.values[row * static_cast<size_t>(t.columns) + static_cast<size_t>(k)]);
    return out + "\n";
  }
  std::string json(int64_t id, const std::string* name, const train::PredictionTable& t,
                   size_t row) const {
    Json out = {{"id", id}};
    if (name != nullptr) out["name"] = *name;
    if (!t.words.empty()) {
      out["words"] = t.words[row];
    } else {
      if (!t.classes.empty()) out["class"] = classes_[static_cast<size_t>(t.classes[row])];
      const char* key = task_ == Task::kGraphRegression ? "values" : "probabilities";
      for (int64_t k = 0; k < t.columns; ++k)
        out[key][classes_[static_cast<size_t>(k)]] =
            t.values[row * static_cast<size_t>(t.columns) + static_cast<size_t>(k)];
    }
    return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  PredictFormat format_;
  Task task_;
  std::vector<std::string> classes_;  // names of classes, or of targets
  std::vector<std::string> columns_;
};

}  // namespace

int64_t predict(const PredictOptions& options, const OpenInput& open) {
  train::Predictor model(options.model);
  const NextChunk next = open(model.trained_on());
  const Lines lines(model, options.format);
  Output out(options.out);
  int64_t id = 0;
  bool begun = false;
  while (const auto chunk = next()) {
    train::PredictionTable table;
    if (chunk->dataset.num_graphs() > 0) table = model.predict(chunk->dataset, options.batch);
    std::string text;
    if (!begun) text = lines.header(chunk->named);
    begun = true;
    for (int64_t row = 0; row < table.rows; ++row, ++id) {
      const auto r = static_cast<size_t>(row);
      text += lines.line(id, chunk->named ? &chunk->names[r] : nullptr, table, r);
    }
    out.write(text);
  }
  check_data(begun, "the input has nothing to predict");
  out.finish();
  return id;
}

}  // namespace egc::cli
