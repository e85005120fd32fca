#include "cli/train_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/child_jobs.h"
#include "cli/stop_signal.h"
#include "cli/train_display.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"

namespace egc::cli {
namespace {

using app::TrainOutcome;
using Json = nlohmann::ordered_json;

Json to_json(const TrainOutcome& r) {
  Json out = {{"seed", r.seed}, {"best_epoch", r.best_epoch}, {"valid", r.valid}};
  if (r.paused)
    out["paused"] = true;
  else
    out["test"] = r.test;
  out.update({{"epochs", r.epochs},
              {"seconds", r.seconds},
              {"dataset", r.dataset},
              {"model", r.model},
              {"metric", r.metric},
              {"parameters", r.parameters}});
  return out;
}

TrainOutcome outcome_of(const Json& line) {
  TrainOutcome r;
  r.seed = line.at("seed");
  r.best_epoch = line.at("best_epoch");
  const auto number = [&](const char* key) {
    return line.at(key).is_null() ? std::nan("") : line.at(key).get<double>();
  };
  r.valid = number("valid");
  r.paused = line.contains("paused");
  r.test = r.paused ? std::nan("") : number("test");
  r.seconds = number("seconds");
  r.epochs = line.at("epochs");
  r.dataset = line.at("dataset");
  r.model = line.at("model");
  r.metric = line.at("metric");
  r.parameters = line.at("parameters");
  return r;
}

// Passes a line of a run on; its last is the outcome.
void take_line(std::string_view text, const CommonOptions& common, TrainOutcome& outcome) {
  const Json line = parse_json<Json>(std::string(text), "a run's output", ErrorKind::kSystem);
  if (line.contains("summary")) return;
  if (common.json) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  } else if (line.contains("epoch") && !common.quiet) {
    log_info("seed {} {}", line.at("seed").get<uint64_t>(), spell_epoch(line));
  }
  if (line.contains("best_epoch")) outcome = outcome_of(line);
}

}  // namespace

std::vector<TrainOutcome> train_in_turn(const std::vector<std::string>& runs, const TrainCommand& o,
                                        const CommonOptions& common, TrainingData& data,
                                        const volatile std::sig_atomic_t* stop) {
  const app::LoadDataset load = [&](const std::string& name) {
    return runs.size() == 1 ? data.take(name) : data.of(name);
  };
  const bool bar = isatty(STDERR_FILENO) != 0;
  const TrainOutput output = common.json    ? TrainOutput::kJson
                             : common.quiet ? TrainOutput::kNothing
                             : bar          ? TrainOutput::kBar
                                            : TrainOutput::kLines;
  std::vector<TrainOutcome> out;
  for (const std::string& run : runs) {
    TrainDisplay display(output, stop);
    out.push_back(app::train_run(run, load, {o.checkpoint_every, o.until}, display));
    if (out.back().interrupted) break;
    if (common.json) fmt::print("{}\n", to_json(out.back()).dump());
    std::fflush(stdout);
  }
  return out;
}

std::string spell_epoch(const Json& line) {
  const Json& valid = line.at("valid");
  return fmt::format("epoch {}: loss {:.4f}, valid {}, {:.1f} s", line.at("epoch").get<int64_t>(),
                     line.at("train_loss").get<double>(),
                     valid.is_null() ? "undefined" : fmt::format("{:.4f}", valid.get<double>()),
                     line.at("seconds").get<double>());
}

// Each run is a process of its own that resumes its directory.
std::vector<TrainOutcome> train_at_once(const std::vector<std::string>& runs, const TrainCommand& o,
                                        const CommonOptions& common,
                                        const volatile std::sig_atomic_t* stop) {
  std::vector<TrainOutcome> outcomes(runs.size());
  ChildJobs jobs;
  jobs.at_once = std::min<int64_t>(o.jobs, std::ssize(runs));
  jobs.stop = stop;
  jobs.on_line = [&](size_t k, std::string_view line) { take_line(line, common, outcomes[k]); };
  const int64_t threads = threads_of_child(o.jobs, std::ssize(runs));
  for (const std::string& run : runs) {
    jobs.commands.push_back({"train", "--resume", run, "--checkpoint-every",
                             std::to_string(o.checkpoint_every), "--until",
                             std::to_string(o.until)});
    for (const std::string& a : child_arguments(common, threads)) jobs.commands.back().push_back(a);
  }
  const std::vector<int> codes = run_jobs(jobs);
  for (size_t k = 0; k < runs.size(); ++k) {
    outcomes[k].interrupted = codes[k] == kInterrupted;
    if (codes[k] != 0 && !outcomes[k].interrupted)
      throw error_of_child(runs[k] + ": training", codes[k]);
  }
  return outcomes;
}

}  // namespace egc::cli
