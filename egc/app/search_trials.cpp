#include "egc/app/search_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "egc/app/child_jobs.h"
#include "egc/core/atomic_file.h"
#include "egc/core/claim_file.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/text_file.h"

namespace egc::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Directory {
 public:
  Directory(const TrialOptions& o, const Trial& trial) : path_(fs::path(o.out) / trial.name) {}

  fs::path config() const { return path_ / "config.json"; }
  fs::path run() const { return path_ / "run"; }
  fs::path after(int64_t epochs) const { return path_ / fmt::format("after-{}.json", epochs); }

  int64_t epochs_trained() const {  // whole ones
    const fs::path metrics = run() / "metrics.jsonl";
    if (!fs::exists(metrics)) return 0;
    const std::string lines = read_text_file(metrics.string(), ErrorKind::kData);
    return std::count(lines.begin(), lines.end(), '\n');
  }

  void write_config(const Json& config) const {
    claim_file(this->config(), config.dump(2) + "\n",
               "belongs to another configuration; choose another --out");
  }

 private:
  fs::path path_;
};

bool is_set(const volatile std::sig_atomic_t* stop) { return stop != nullptr && *stop != 0; }

double number(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it == json.end() || !it->is_number() ? std::nan("") : it->get<double>();
}

void take_record(Trial& trial, const fs::path& path) {
  const Json record = read_json_file<Json>(path.string(), ErrorKind::kData);
  check_data(record.is_object() && record.value("metric", Json()).is_string() &&
                 record.value("epochs", Json()).is_number_integer(),
             "{}: not a record of a trial", path.string());
  trial.valid = number(record, "valid");
  trial.test = number(record, "test");
  trial.metric = record.at("metric").get<std::string>();
  trial.epochs = record.at("epochs").get<int64_t>();
}

std::vector<std::string> command_of(const TrialOptions& o, const Session& session,
                                    const Trial& trial, int64_t until, int64_t threads) {
  const Directory dir(o, trial);
  std::vector<std::string> out;
  if (fs::exists(dir.run() / "config.json"))
    out = {"train", "--resume", dir.run().string()};
  else
    out = {"train",    o.dataset,
           "--config", dir.config().string(),
           "--seed",   std::to_string(trial.seed),
           "--out",    dir.run().string()};
  if (until > 0) out.insert(out.end(), {"--until", std::to_string(until)});
  for (const std::string& a : child_arguments(session, threads)) out.push_back(a);
  return out;
}

void train_all(std::vector<Trial>& trials, const search::Rung& rung, const TrialOptions& o,
               const Session& session, const volatile std::sig_atomic_t* stop) {
  const int64_t epochs = rung.epochs;
  ChildJobs jobs;
  jobs.program = session.program;
  jobs.at_once = o.jobs;
  jobs.stop = stop;
  std::vector<Trial*> missing;
  for (Trial& trial : trials)
    if (!fs::exists(Directory(o, trial).after(epochs))) missing.push_back(&trial);
  const int64_t threads = threads_of_child(o.jobs, std::ssize(missing));
  for (const Trial* trial : missing)
    jobs.commands.push_back(command_of(o, session, *trial, rung.is_whole ? 0 : epochs, threads));
  std::vector<std::string> outcomes(missing.size());
  jobs.on_line = [&](size_t k, std::string_view line) {
    const Json json = parse_json<Json>(line, missing[k]->name, ErrorKind::kSystem);
    if (json.contains("best_epoch")) outcomes[k] = json.dump();
  };
  jobs.on_end = [&](size_t k, int code) {
    if (is_set(stop) && code != 0) return;
    const bool became_no_number = code == static_cast<int>(ErrorKind::kVerification);
    const bool is_impossible = o.may_be_impossible && code == static_cast<int>(ErrorKind::kUsage);
    if (became_no_number || is_impossible) {  // the settings are bad, which is a result
      const int64_t trained = Directory(o, *missing[k]).epochs_trained();
      outcomes[k] = Json{{"metric", ""}, {"epochs", trained}, {"valid", nullptr}}.dump();
    } else if (code != 0) {
      throw error_of_child(missing[k]->name + ": training", code);
    }
    write_whole_file(Directory(o, *missing[k]).after(epochs), outcomes[k] + "\n");
    log_info("{}: epoch {}, {} of {}", missing[k]->name, epochs, k + 1, missing.size());
  };
  run_jobs(jobs);
  if (is_set(stop)) throw SearchStopped();
  for (Trial& trial : trials) take_record(trial, Directory(o, trial).after(epochs));
}

}  // namespace

std::string spell_epoch(const Json& line) {
  const Json& valid = line.at("valid");
  return fmt::format("epoch {}: loss {:.4f}, valid {}, {:.1f} s", line.at("epoch").get<int64_t>(),
                     line.at("train_loss").get<double>(),
                     valid.is_null() ? "undefined" : fmt::format("{:.4f}", valid.get<double>()),
                     line.at("seconds").get<double>());
}

std::vector<size_t> by_validation(const Scores& scores) {
  return search::best_of(scores.valid, scores.valid.size(), scores.lower_is_better);
}

std::vector<Trial> run_rungs(std::vector<Trial> trials, const std::vector<search::Rung>& rungs,
                             const TrialOptions& options, const Session& session,
                             const volatile std::sig_atomic_t* stop, const Judge& judge) {
  for (Trial& trial : trials) {
    Json config = Json::parse(trial.config);
    config["seed"] = trial.seed;
    Directory(options, trial).write_config(config);
    trial.config = config.dump();
  }
  std::vector<Trial> alive = std::move(trials);
  std::vector<Trial> ranked;  // those that were left behind, the latest first
  for (size_t r = 0; r < rungs.size(); ++r) {
    const bool last = r + 1 == rungs.size();
    train_all(alive, rungs[r], options, session, stop);
    Scores scores;
    for (const Trial& t : alive) {
      scores.valid.push_back(t.valid);
      scores.lower_is_better = scores.lower_is_better || t.metric == "mae";
    }
    const auto order = judge(scores);
    const size_t go_on = last ? order.size() : std::min(rungs[r + 1].trials, order.size());
    std::vector<Trial> next;
    std::vector<Trial> behind;
    for (size_t k = 0; k < order.size(); ++k)
      (k < go_on ? next : behind).push_back(std::move(alive[order[k]]));
    ranked.insert(ranked.begin(), behind.begin(), behind.end());
    alive = std::move(next);
  }
  alive.insert(alive.end(), ranked.begin(), ranked.end());
  return alive;
}

}  // namespace egc::app
