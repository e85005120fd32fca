// Training as `egc train` does it, with a function that is told of every epoch.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "egc/app/train.h"
#include "egc/c_api/call.h"
#include "egc/c_api/session.h"
#include "egc/core/json_fields.h"
#include "egc/core/json_parse.h"
#include "egc/train/progress.h"

namespace egc::c_api {
namespace {

using Json = nlohmann::ordered_json;

// How often a caller may interrupt a long epoch.
constexpr auto kPollEvery = std::chrono::milliseconds(100);

class Observer : public train::RunObserver {
 public:
  Observer(egc_epoch_function on_epoch, void* user, uint64_t seed)
      : on_epoch_(on_epoch), user_(user), seed_(seed) {}

  bool on_step(const train::Trainer::Step& /*step*/) override {
    if (stopped_ || on_epoch_ == nullptr) return !stopped_;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kPollEvery) return true;
    last_ = now;
    stopped_ = on_epoch_(nullptr, user_) != 0;
    return !stopped_;
  }
  void on_epoch(const train::EpochRecord& record, bool /*best*/) override {
    if (on_epoch_ != nullptr && !stopped_)
      stopped_ = on_epoch_(train::to_json(record, seed_).c_str(), user_) != 0;
  }

 private:
  egc_epoch_function on_epoch_;
  void* user_;
  uint64_t seed_;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class Progress : public app::TrainProgress {
 public:
  Progress(egc_epoch_function on_epoch, void* user, uint64_t first_seed)
      : on_epoch_(on_epoch), user_(user), seed_(first_seed) {}
  std::unique_ptr<train::RunObserver> observe() override {  // runs have consecutive seeds
    return std::make_unique<Observer>(on_epoch_, user_, seed_++);
  }

 private:
  egc_epoch_function on_epoch_;
  void* user_;
  uint64_t seed_;
};

bool is_list(const std::string& key) {
  const auto fields = app::settable_fields();
  return std::any_of(fields.begin(), fields.end(), [&](const FieldFacts& f) {
    return f.key == key && f.kind == FieldKind::kList;
  });
}

// A setting as on the command line.
std::string spelled(const std::string& key, const Json& value, bool may_be_list = true) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    check(may_be_list && is_list(key), "egc_train: setting \"{}\" must be one value, got {}", key,
          value.dump());
    std::string out;
    for (const Json& item : value) out += (out.empty() ? "" : ",") + spelled(key, item, false);
    return out;
  }
  check(value.is_number() || value.is_boolean(),
        "egc_train: setting \"{}\" must be a text, a number, true, false or a list", key);
  return value.dump();
}

struct Request {
  app::TrainRequest train;
  app::Session session;
};

Request parse(const std::string& text) {
  const Json json = parse_json<Json>(text, "egc_train: request", ErrorKind::kUsage);
  check(json.is_object(), "egc_train: the request must be an object");
  Request out;
  out.session = session_of(nullptr, 0);
  app::TrainRequest& r = out.train;
  for (const auto& [key, value] : json.items()) {
    if (value.is_null()) continue;
    try {
      if (key == "dataset")
        r.options.dataset = value.get<std::string>();
      else if (key == "model")
        r.options.model = value.get<std::string>();
      else if (key == "config")
        r.options.config = value.get<std::string>();
      else if (key == "parameters")
        r.options.parameters = value.get<int64_t>();
      else if (key == "out")
        r.out = value.get<std::string>();
      else if (key == "resume")
        r.resume = value.get<std::string>();
      else if (key == "seeds")
        r.seeds = value.get<int64_t>();
      else if (key == "overwrite")
        r.overwrite = value.get<bool>();
      else if (key == "until")
        r.until = value.get<int64_t>();
      else if (key == "checkpoint_every")
        r.checkpoint_every = value.get<int64_t>();
      else if (key == "seed")
        out.session.seed = value.get<uint64_t>();
      else if (key == "data_dir")
        out.session.data_dir = value.get<std::string>();
      else if (key == "settings")
        for (const auto& [setting, chosen] : value.items())
          r.options.settings[setting] = spelled(setting, chosen);
      else
        fail(ErrorKind::kUsage, "egc_train: unknown field \"{}\"", key);
    } catch (const Json::exception&) {
      fail(ErrorKind::kUsage, "egc_train: \"{}\" cannot be {}", key, value.dump());
    }
  }
  check(r.seeds >= 1 && r.checkpoint_every >= 1 && r.until >= 0,
        "egc_train: seeds and checkpoint_every must be at least 1, until at least 0");
  return out;
}

std::string to_json(const app::TrainReport& report) {
  Json outcomes = Json::array();
  for (const app::TrainOutcome& outcome : report.outcomes)
    if (!outcome.interrupted) outcomes.push_back(Json::parse(app::to_json(outcome)));
  return Json{{"directory", report.directory}, {"runs", report.runs}, {"outcomes", outcomes}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace
}  // namespace egc::c_api

egc_status egc_train(const char* request_json, egc_epoch_function on_epoch, void* user,
                     char** report) {
  using namespace egc::c_api;  // NOLINT
  bool interrupted = false;
  const egc_status status = call([&] {
    auto& out = given(report, "egc_train", "report");
    out = nullptr;
    const Request request = parse(&given(request_json, "egc_train", "request_json"));
    Progress progress(on_epoch, user, request.session.seed);
    const egc::app::TrainReport done = egc::app::train(request.train, request.session, progress);
    for (const auto& outcome : done.outcomes) interrupted |= outcome.interrupted;
    out = copy_of(to_json(done));
  });
  if (status != EGC_OK || !interrupted) return status;
  return fail_with(EGC_INTERRUPTED, "training was stopped; its checkpoint can be resumed");
}
