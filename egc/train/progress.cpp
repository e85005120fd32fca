#include "egc/train/progress.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "egc/core/error.h"
#include "egc/core/json_parse.h"

namespace egc::train {
namespace {

using Json = nlohmann::ordered_json;

// The lists of fields: reading and writing both go over them.
template <class Visitor, class Record>
void visit_record(Visitor&& v, Record& r) {
  v("epoch", r.epoch);
  v("train_loss", r.train_loss);
  v("valid_loss", r.valid_loss);
  v("valid", r.valid);
  v("lr", r.lr);
  v("seconds", r.seconds);
}

template <class Visitor, class State>
void visit_progress(Visitor&& v, State& p) {
  v("batches", p.batches);
  v("loss_sum", p.loss_sum);
  v("loss_items", p.loss_items);
  v("seconds", p.seconds);
  v("lr", p.lr);
  v("plateau_best", p.plateau_best);
  v("plateau_bad", p.plateau_bad);
  v("best_epoch", p.best_epoch);
  v("best", p.best);
}

struct Writer {
  Json& json;
  // JSON has no NaN: null stands for it.
  template <class Value>
  void operator()(const char* key, const Value& value) const {
    json[key] = value;
  }
};

struct Reader {
  const Json& json;
  template <class Value>
  void operator()(const char* key, Value& to) const {
    to = json.at(key).template get<Value>();
  }
  void operator()(const char* key, double& to) const {
    const Json& value = json.at(key);
    to = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
};

bool better(double a, double b, bool higher) { return higher ? a > b : a < b; }

}  // namespace

bool finish_epoch(Progress& p, const TrainConfig& config, const EpochRecord& record, double watched,
                  bool higher) {
  // ReduceLROnPlateau of PyTorch with its usual relative threshold.
  constexpr double kThreshold = 1e-4;
  const double must_beat = p.plateau_best * (higher ? 1 + kThreshold : 1 - kThreshold);
  if (p.history.empty() || better(watched, must_beat, higher)) {
    p.plateau_best = watched;
    p.plateau_bad = 0;
  } else if (++p.plateau_bad > config.lr_patience) {
    p.lr = std::min(p.lr, std::max(p.lr * config.lr_factor, config.min_lr));
    p.plateau_bad = 0;
  }
  p.history.push_back(record);
  p.batches = 0;
  p.loss_sum = p.loss_items = p.seconds = 0;
  const bool best = p.best_epoch == 0 || better(watched, p.best, higher);
  if (best) {
    p.best_epoch = record.epoch;
    p.best = watched;
  }
  return best;
}

bool is_finished(const Progress& p, const TrainConfig& config) {
  const int64_t since_best = p.epochs_done() - p.best_epoch;
  const bool stopped = config.early_stop > 0 && since_best > config.early_stop;
  return stopped || p.epochs_done() >= config.epochs;
}

std::string to_json(const Progress& progress) {
  Json json = Json::object();
  visit_progress(Writer{json}, progress);
  Json history = Json::array();
  for (const EpochRecord& record : progress.history) {
    Json line = Json::object();
    visit_record(Writer{line}, record);
    history.push_back(std::move(line));
  }
  json["history"] = std::move(history);
  return json.dump();
}

Progress parse_progress(const std::string& json_text, const std::string& where) {
  const Json json = parse_json<Json>(json_text, where, ErrorKind::kModel);
  Progress progress;
  try {
    visit_progress(Reader{json}, progress);
    for (const Json& line : json.at("history")) {
      EpochRecord record;
      visit_record(Reader{line}, record);
      progress.history.push_back(record);
    }
  } catch (const Json::exception& e) {
    fail(ErrorKind::kModel, "{}: the progress of the run cannot be read: {}", where, e.what());
  }
  const auto epochs = progress.epochs_done();
  if (progress.batches < 0 || progress.best_epoch < 0 || progress.best_epoch > epochs)
    fail(ErrorKind::kModel, "{}: the numbers of epochs and batches contradict each other", where);
  return progress;
}

std::string to_json(const EpochRecord& record, uint64_t seed) {
  Json line = Json::object();
  line["seed"] = seed;
  visit_record(Writer{line}, record);
  return line.dump();
}

}  // namespace egc::train
