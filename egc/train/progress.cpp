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

// Throws nlohmann::json::exception.
struct Reader {
  const nlohmann::json& json;
  void operator()(const char* key, int64_t& to) const {
    const auto& value = json.at(key);
    if (!value.is_number_integer()) (void)value.get_ref<const nlohmann::json::number_integer_t&>();
    to = value.get<int64_t>();
  }
  void operator()(const char* key, double& to) const {
    const auto& value = json.at(key);
    to = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
};

bool makes_sense(const Progress& p) {
  for (const double number : {p.loss_sum, p.loss_items, p.seconds, p.plateau_best, p.best})
    if (!std::isfinite(number)) return false;
  for (size_t k = 0; k < p.history.size(); ++k)
    if (p.history[k].epoch != static_cast<int64_t>(k) + 1) return false;
  return p.batches >= 0 && p.plateau_bad >= 0 && std::isfinite(p.lr) && p.lr > 0 &&
         (p.best_epoch == 0) == p.history.empty() && p.best_epoch >= 0 &&
         p.best_epoch <= p.epochs_done();
}

bool better(double a, double b, bool higher) { return higher ? a > b : a < b; }

}  // namespace

bool finish_epoch(Progress& p, const TrainConfig& config, const EpochRecord& record,
                  double monitored, bool higher) {
  // ReduceLROnPlateau of PyTorch with its usual relative threshold.
  constexpr double kThreshold = 1e-4;
  const double must_beat = p.plateau_best * (higher ? 1 + kThreshold : 1 - kThreshold);
  if (p.history.empty() || better(monitored, must_beat, higher)) {
    p.plateau_best = monitored;
    p.plateau_bad = 0;
  } else if (config.schedule == Schedule::kPlateau && ++p.plateau_bad > config.lr_patience) {
    p.lr = std::min(p.lr, std::max(p.lr * config.lr_factor, config.min_lr));
    p.plateau_bad = 0;
  }
  p.history.push_back(record);
  p.batches = 0;
  p.loss_sum = p.loss_items = p.seconds = 0;
  const bool best = p.best_epoch == 0 || better(monitored, p.best, higher);
  if (best) {
    p.best_epoch = record.epoch;
    p.best = monitored;
  }
  return best;
}

bool is_finished(const Progress& p, const TrainConfig& config) {
  const int64_t since_best = p.epochs_done() - p.best_epoch;
  const bool stopped = config.patience > 0 && since_best > config.patience;
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
  // Not ordered: a long history has many keys.
  const auto json = parse_json<nlohmann::json>(json_text, where, ErrorKind::kModel);
  Progress progress;
  try {
    visit_progress(Reader{json}, progress);
    for (const auto& line : json.at("history")) {
      EpochRecord record;
      visit_record(Reader{line}, record);
      progress.history.push_back(record);
    }
  } catch (const nlohmann::json::exception& e) {
    fail(ErrorKind::kModel, "{}: cannot read the run's progress: {}", where, e.what());
  }
  if (!makes_sense(progress))
    fail(ErrorKind::kModel, "{}: the run's progress is inconsistent", where);
  return progress;
}

std::string to_json(const EpochRecord& record, uint64_t seed) {
  Json line = Json::object();
  line["seed"] = seed;
  visit_record(Writer{line}, record);
  return line.dump();
}

}  // namespace egc::train
