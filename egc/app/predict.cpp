#include "egc/app/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "egc/core/atomic_file.h"
#include "egc/core/error.h"
#include "egc/core/producer.h"
#include "egc/inference/model.h"

namespace egc::app {
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
      fail(ErrorKind::kSystem, "cannot write to stdout");
  }
  void finish() {
    if (file_) file_->commit();
    if (!file_ && std::fflush(stdout) != 0) fail(ErrorKind::kSystem, "cannot write to stdout");
  }

 private:
  std::optional<AtomicFile> file_;
};

class Lines {
 public:
  Lines(const inference::Model& model, PredictFormat format) : format_(format) {
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

  // Decides what stands in each column, by the first chunk of the input.
  std::string begin(const PredictChunk& chunk) {
    std::vector<std::string> ours;
    if (task_ == Task::kGraphSequence)
      ours = {"words"};
    else if (task_ != Task::kGraphRegression && task_ != Task::kGraphBinary)
      ours = {"class"};
    if (format_ == PredictFormat::kCsv)
      ours.insert(ours.end(), columns_.begin(), columns_.end());
    else if (task_ != Task::kGraphSequence)
      ours.push_back(values_key());
    for (const data::ExtraColumn& extra : chunk.extra) {
      // The input's own id is what it is joined by; other names that are taken get a prefix.
      if (extra.name == "id") {
        extra_names_.emplace_back();
        continue;
      }
      std::string name = extra.name;
      while (is_taken(name, ours, chunk.extra, extra)) name = "input_" + name;
      extra_names_.push_back(name);
    }
    if (format_ == PredictFormat::kJsonLines) return "";
    std::string out = chunk.named ? "id,name" : "id";
    for (const std::string& name : extra_names_)
      if (!name.empty()) out += "," + csv_field(name);
    for (const std::string& name : ours) out += "," + csv_field(name);
    return out + "\n";
  }

  // number: of the row, where the input has no ids.
  std::string line(int64_t number, const PredictChunk& chunk,
                   const inference::PredictionTable& table, size_t row) const {
    return format_ == PredictFormat::kCsv ? csv(number, chunk, table, row)
                                          : json(number, chunk, table, row);
  }

 private:
  // By a column of ours, or by another one of the input.
  static bool is_taken(const std::string& name, const std::vector<std::string>& ours,
                       const std::vector<data::ExtraColumn>& extra,
                       const data::ExtraColumn& itself) {
    return name == "id" || name == "name" ||
           std::find(ours.begin(), ours.end(), name) != ours.end() ||
           std::any_of(extra.begin(), extra.end(), [&](const data::ExtraColumn& other) {
             return &other != &itself && other.name == name;
           });
  }
  const char* values_key() const {
    return task_ == Task::kGraphRegression ? "values" : "probabilities";
  }
  // A number, or the input's own id.
  static Json id_of(int64_t number, const PredictChunk& chunk, size_t row) {
    for (const data::ExtraColumn& extra : chunk.extra)
      if (extra.name == "id") return extra.values[row];
    if (!chunk.ids.empty()) return chunk.ids[row];
    return chunk.numbers.empty() ? number : chunk.numbers[row];
  }
  std::string csv(int64_t number, const PredictChunk& chunk, const inference::PredictionTable& t,
                  size_t row) const {
    const Json id = id_of(number, chunk, row);
    std::string out = id.is_string() ? csv_field(id.get<std::string>()) : id.dump();
    if (chunk.named) out += "," + csv_field(chunk.names[row]);
    for (size_t k = 0; k < chunk.extra.size(); ++k)
      if (!extra_names_[k].empty()) out += "," + csv_field(chunk.extra[k].values[row]);
    if (!t.words.empty())
      return out + "," + csv_field(fmt::format("{}", fmt::join(t.words[row], " "))) + "\n";
    if (!t.classes.empty()) out += "," + csv_field(classes_[static_cast<size_t>(t.classes[row])]);
    for (int64_t k = 0; k < t.columns; ++k)
      out += fmt::format(",{}",
                         t.values[row * static_cast<size_t>(t.columns) + static_cast<size_t>(k)]);
    return out + "\n";
  }
  std::string json(int64_t number, const PredictChunk& chunk, const inference::PredictionTable& t,
                   size_t row) const {
    Json out = {{"id", id_of(number, chunk, row)}};
    if (chunk.named) out["name"] = chunk.names[row];
    for (size_t k = 0; k < chunk.extra.size(); ++k)
      if (!extra_names_[k].empty()) out[extra_names_[k]] = chunk.extra[k].values[row];
    if (!t.words.empty()) {
      out["words"] = t.words[row];
    } else {
      if (!t.classes.empty()) out["class"] = classes_[static_cast<size_t>(t.classes[row])];
      for (int64_t k = 0; k < t.columns; ++k)
        out[values_key()][classes_[static_cast<size_t>(k)]] =
            t.values[row * static_cast<size_t>(t.columns) + static_cast<size_t>(k)];
    }
    return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  PredictFormat format_;
  Task task_;
  std::vector<std::string> classes_;  // names of classes, or of targets
  std::vector<std::string> columns_;
  std::vector<std::string> extra_names_;  // of the input's columns; empty: it is the id
};

}  // namespace

int64_t predict(const PredictOptions& options, const OpenInput& open) {
  auto model = inference::Model::load_ensemble({options.models.begin(), options.models.end()});
  Lines lines(model, options.format);
  auto source = open(model.trained_on());
  Output out(options.out);
  // Features of the next graphs are made while these are computed.
  Producer<PredictChunk> chunks(std::move(source), /*ahead=*/1,
                                Producer<PredictChunk>::Threads::kFree);
  int64_t count = 0;
  bool begun = false;
  while (const auto chunk = chunks.next()) {
    inference::PredictionTable table;
    if (chunk->dataset.num_graphs() > 0) table = model.predict(chunk->dataset, options.batch);
    std::string text;
    if (!std::exchange(begun, true)) text = lines.begin(*chunk);
    for (int64_t row = 0; row < table.rows; ++row, ++count)
      text += lines.line(count, *chunk, table, static_cast<size_t>(row));
    out.write(text);
    if (options.on_lines) options.on_lines(count);
  }
  check_data(count > 0, "the input has no graphs or nodes to predict");
  out.finish();
  return count;
}

}  // namespace egc::app
