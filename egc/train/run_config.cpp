#include "egc/train/run_config.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "egc/core/error.h"
#include "egc/core/json_fields.h"
#include "egc/core/json_parse.h"
#include "egc/core/text_file.h"

namespace egc::train {

const NamedTable<Optimizer>& optimizers() {
  static const NamedTable<Optimizer> table(
      "optimizer", {{"adam", Optimizer::kAdam}, {"adamw", Optimizer::kAdamW}});
  return table;
}

const NamedTable<Schedule>& schedules() {
  static const NamedTable<Schedule> table(
      "schedule", {{"plateau", Schedule::kPlateau}, {"cosine", Schedule::kCosine}});
  return table;
}

namespace {

using Json = nlohmann::ordered_json;

// The one list of fields.
template <class Visitor, class Config>
void visit(Visitor&& v, Config& c) {
  using F = ConfigField;
  v(F{"lr", "Initial learning rate"}, c.lr);
  v(F{"optimizer", "Optimizer: adam, or adamw with decoupled weight decay"},
    word<Optimizer, optimizers>(c.optimizer));
  v(F{"wd", "Weight decay: of adam an L2 penalty added to the gradient, of adamw decoupled"}, c.wd);
  v(F{"batch", "Batch size, in graphs"}, c.batch);
  v(F{"epochs", "Max epochs; also the length of the schedule cosine"}, c.epochs);
  v(F{"schedule",
      "Learning rate schedule: plateau reduces it where validation does not improve, cosine takes "
      "it to 0 over --epochs"},
    word<Schedule, schedules>(c.schedule));
  v(F{"warmup_epochs", "Epochs in which the learning rate of the schedule cosine rises from 0"},
    c.warmup_epochs);
  v(F{"patience",
      "Epochs without improvement on the validation set before training stops; 0 never stops, the "
      "default with the schedule cosine",
      "", "early_stop"},
    c.patience);
  v(F{"lr_factor", "Factor that reduces the learning rate on a plateau"}, c.lr_factor);
  v(F{"lr_patience", "Epochs without improvement before the learning rate is reduced"},
    c.lr_patience);
  v(F{"min_lr", "Minimum learning rate"}, c.min_lr);
  v(F{"monitor", "Metric to monitor on the validation set: loss, or the dataset's metric", "",
      "watch"},
    c.monitor);
  v(F{"clip", "Max gradient norm (clipping); 0 disables it"}, c.clip);
  v(F{"split", "Split of the dataset (default: the first)"}, c.split);
  v(F{"drop_edges", "DropEdge probability"}, c.drop_edges);
  v(F{"drop_nodes", "DropNode probability"}, c.drop_nodes);
  v(F{"aggregator_sparsity",
      "Strength of a group penalty that prunes aggregators of EGC; 0 disables it"},
    c.aggregator_sparsity);
  v(F{"standardize",
      "Standardize float features by mean and standard deviation of the training set: train or "
      "none (default: train for number columns of tables, else none)"},
    c.standardize);
}

struct FieldWriter {
  template <class Value>
  void operator()(const ConfigField& field, const Value& value) {
    json[field.key] = value;
  }
  template <class Value>
  void operator()(const ConfigField& field, const Word<Value>& from) {
    json[field.key] = std::string(from.name(from.value));
  }
  Json json = Json::object();
};

// A person who chooses a schedule by steps means all of it: what waits for validation is off unless
// it is chosen beside it.
void suit_schedule(TrainConfig& config, const Json& chosen) {
  if (config.schedule != Schedule::kCosine) return;
  const TrainConfig start;
  const auto reset = [&](const char* key, auto& value, auto to) {
    if (!chosen.contains(key)) value = to;
  };
  if (!chosen.contains("early_stop")) reset("patience", config.patience, int64_t{0});
  reset("lr_factor", config.lr_factor, start.lr_factor);
  reset("lr_patience", config.lr_patience, start.lr_patience);
  reset("min_lr", config.min_lr, start.min_lr);
}

}  // namespace

TrainConfig parse_train_config(const std::string& json_text, const std::string& where) {
  const Json json = parse_json<Json>(json_text, where, ErrorKind::kUsage);
  TrainConfig config;
  JsonReader reader(json, where);
  visit(reader, config);
  reader.refuse_unknown();
  suit_schedule(config, json);
  try {
    check_config(config);
  } catch (const Error& e) {
    fail(e.kind(), "{}: {}", where, e.what());
  }
  return config;
}

std::vector<FieldFacts> config_fields() {
  std::vector<FieldFacts> out;
  TrainConfig config;
  visit(
      [&]<class Value>(const ConfigField& field, const Value& /*value*/) {
        out.push_back(facts_of(field, kind_of<Value>()));
      },
      config);
  return out;
}

void override_fields(TrainConfig& config, const std::string& json_text) {
  const Json json = Json::parse(json_text);
  JsonReader reader(json, "");
  const Schedule before = config.schedule;
  visit(reader, config);
  reader.refuse_unknown();
  if (config.schedule != before) suit_schedule(config, json);
}

std::string to_json(const TrainConfig& config) {
  FieldWriter writer;
  TrainConfig copy = config;  // the list of fields is one for reading and writing
  visit(writer, copy);
  return writer.json.dump();
}

namespace {

void check_schedule(const TrainConfig& c) {
  check(c.warmup_epochs >= 0 && c.warmup_epochs < c.epochs,
        "warmup_epochs must be from 0 to {}, one less than epochs, got {}", c.epochs - 1,
        c.warmup_epochs);
  if (c.schedule != Schedule::kCosine) {
    check(c.warmup_epochs == 0, "warmup_epochs needs the schedule \"cosine\", got \"{}\"",
          schedules().name_of(c.schedule));
    return;
  }
  const TrainConfig start;
  const auto of_plateau = [](const char* name, auto value, auto unset) {
    check(value == unset,
          "{} has no effect with the schedule \"cosine\": it is of the schedule \"plateau\"", name);
  };
  of_plateau("lr_factor", c.lr_factor, start.lr_factor);
  of_plateau("lr_patience", c.lr_patience, start.lr_patience);
  of_plateau("min_lr", c.min_lr, start.min_lr);
}

}  // namespace

void check_config(const TrainConfig& c) {
  const auto positive = [](const char* name, double value) {
    check(value > 0 && std::isfinite(value), "{} must be positive, got {}", name, value);
  };
  const auto not_negative = [](const char* name, double value) {
    check(value >= 0 && std::isfinite(value), "{} must not be negative, got {}", name, value);
  };
  positive("lr", c.lr);
  not_negative("wd", c.wd);
  check(c.standardize.empty() || c.standardize == "train" || c.standardize == "none",
        "standardize must be \"train\" or \"none\", got \"{}\"", c.standardize);
  check(c.batch >= 1, "batch must be at least 1, got {}", c.batch);
  check(c.epochs >= 1, "epochs must be at least 1, got {}", c.epochs);
  check(c.patience >= 0, "patience must not be negative, got {}", c.patience);
  check(c.lr_factor > 0 && c.lr_factor <= 1, "lr_factor must be in (0, 1], got {}", c.lr_factor);
  check(c.lr_patience >= 0, "lr_patience must not be negative, got {}", c.lr_patience);
  not_negative("min_lr", c.min_lr);
  check_schedule(c);
  not_negative("clip", c.clip);
  not_negative("aggregator_sparsity", c.aggregator_sparsity);
  for (const auto& [name, p] :
       {std::pair{"drop_edges", c.drop_edges}, {"drop_nodes", c.drop_nodes}})
    check(p >= 0 && p < 1, "{} must be in [0, 1), got {}", name, p);
}

TrainConfig training_of(const models::Notes& notes) {
  const auto it = notes.find("train");
  if (it == notes.end()) return {};
  try {
    return parse_train_config(it->second, "the model's metadata: train");
  } catch (const Error& e) {
    fail(ErrorKind::kModel, "{}", e.what());
  }
}

RunConfig read_run_config(const std::string& path) {
  return parse_run_config(read_text_file(path, ErrorKind::kUsage), path);
}

RunConfig parse_run_config(const std::string& json_text, const std::string& path) {
  const Json root = parse_json<Json>(json_text, path, ErrorKind::kUsage);
  JsonReader reader(root, path);
  RunConfig run;
  Json model;
  Json train;
  Json about;
  Json seed;
  if (!reader.read("model", model)) reader.fail_at("model", "is missing");
  reader.read("dataset", run.dataset);
  if (reader.read("train", train)) run.train = parse_train_config(train.dump(), path + ": train");
  if (reader.read("seed", seed)) {
    if (!seed.is_number_unsigned()) reader.fail_at("seed", "must be an integer of at least 0");
    run.seed = seed.get<uint64_t>();
  }
  // What a run says of itself: version, machine, checksum.
  if (reader.read("about", about)) {
    JsonReader of_run(about, path);
    of_run.read("dataset_checksum", run.dataset_checksum);
    of_run.read("version", run.version);
  }
  reader.refuse_unknown();
  run.model = models::parse_model_config(model.dump(), path + ": model");
  return run;
}

}  // namespace egc::train
