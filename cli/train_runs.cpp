#include "cli/train_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/stop_signal.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"
#include "egc/data/child_process.h"

namespace egc::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const TrainOutcome& r) {
  return {{"seed", r.seed},       {"best_epoch", r.best_epoch},
          {"valid", r.valid},     {"test", r.test},
          {"epochs", r.epochs},   {"seconds", r.seconds},
          {"dataset", r.dataset}, {"model", r.model},
          {"metric", r.metric},   {"parameters", r.parameters}};
}

TrainOutcome outcome_of(const Json& line) {
  TrainOutcome r;
  r.seed = line.at("seed");
  r.best_epoch = line.at("best_epoch");
  const auto number = [&](const char* key) {
    return line.at(key).is_null() ? std::nan("") : line.at(key).get<double>();
  };
  r.valid = number("valid");
  r.test = number("test");
  r.seconds = number("seconds");
  r.epochs = line.at("epochs");
  r.dataset = line.at("dataset");
  r.model = line.at("model");
  r.metric = line.at("metric");
  r.parameters = line.at("parameters");
  return r;
}

// Passes the lines of a run on; the last of them is its outcome.
void read_lines(data::ChildProcess& child, const CommonOptions& common, std::mutex& printing,
                TrainOutcome& outcome) {
  child.for_each_line([&](std::string_view text) {
    const std::scoped_lock lock(printing);
    const Json line = parse_json<Json>(std::string(text), "a run's output", ErrorKind::kSystem);
    if (line.contains("summary")) return;
    if (common.json) {
      fmt::print("{}\n", text);
      std::fflush(stdout);
    } else if (line.contains("epoch") && !common.quiet) {
      const Json& valid = line.at("valid");
      log_info("seed {} epoch {}: loss {:.4f}, valid {}, {:.1f} s", line.at("seed").get<uint64_t>(),
               line.at("epoch").get<int64_t>(), line.at("train_loss").get<double>(),
               valid.is_null() ? "undefined" : fmt::format("{:.4f}", valid.get<double>()),
               line.at("seconds").get<double>());
    }
    if (line.contains("test")) outcome = outcome_of(line);
  });
}

}  // namespace

std::vector<TrainOutcome> train_in_turn(const std::vector<std::string>& runs, const TrainCommand& o,
                                        const CommonOptions& common,
                                        const volatile std::sig_atomic_t* stop) {
  std::optional<std::pair<std::string, data::Dataset>> loaded;
  const LoadDataset load = [&](const std::string& name) {
    if (!loaded || loaded->first != name) loaded.emplace(name, load_for_training(name, common));
    return loaded->second;
  };
  const bool bar = isatty(STDERR_FILENO) != 0;
  TrainOptions options;
  options.output = common.json    ? TrainOutput::kJson
                   : common.quiet ? TrainOutput::kNothing
                   : bar          ? TrainOutput::kBar
                                  : TrainOutput::kLines;
  options.checkpoint_every = o.checkpoint_every;
  options.stop = stop;
  std::vector<TrainOutcome> out;
  for (const std::string& run : runs) {
    out.push_back(torch_module().train_run(run, load, options));
    if (out.back().interrupted) break;
    if (common.json) fmt::print("{}\n", to_json(out.back()).dump());
    std::fflush(stdout);
  }
  return out;
}

// Each run is a process of its own that resumes its directory.
std::vector<TrainOutcome> train_at_once(const std::vector<std::string>& runs, const TrainCommand& o,
                                        const CommonOptions& common,
                                        const volatile std::sig_atomic_t* stop) {
  const int64_t jobs = std::min<int64_t>(o.jobs, std::ssize(runs));
  const int64_t threads = std::max<int64_t>(1, num_threads() / jobs);
  std::vector<TrainOutcome> outcomes(runs.size());
  std::vector<int> codes(runs.size(), kInterrupted);
  std::atomic<size_t> next = 0;
  std::mutex printing;
  std::exception_ptr error;
  const auto train_one = [&](size_t k) {
    data::ChildProcess child({"/proc/self/exe", "train", "--resume", runs[k], "--json", "--quiet",
                              "--data-dir", common.data_dir, "--threads", std::to_string(threads),
                              "--checkpoint-every", std::to_string(o.checkpoint_every)});
    {
      const PassSignalsTo pass(child.pid());
      if (*stop != 0) kill(child.pid(), SIGTERM);  // the signal came before it was passed on
      read_lines(child, common, printing, outcomes[k]);
    }
    codes[k] = child.wait();
  };
  const auto work = [&] {
    try {
      for (size_t k = next++; k < runs.size() && *stop == 0; k = next++) train_one(k);
    } catch (...) {
      const std::scoped_lock lock(printing);
      if (!error) error = std::current_exception();
      next = runs.size();  // nobody begins another
    }
  };
  std::vector<std::thread> workers;
  for (int64_t j = 0; j < jobs; ++j) workers.emplace_back(work);
  for (std::thread& w : workers) w.join();
  if (error) std::rethrow_exception(error);
  constexpr int kTerminated = 128 + SIGTERM;  // before it could watch for signals
  for (size_t k = 0; k < runs.size(); ++k) {
    const int code = codes[k];
    outcomes[k].interrupted = code == kInterrupted || (*stop != 0 && code == kTerminated);
    if (code == 0 || outcomes[k].interrupted) continue;
    const bool own = code >= static_cast<int>(ErrorKind::kUsage) &&
                     code <= static_cast<int>(ErrorKind::kVerification);
    throw Error(own ? static_cast<ErrorKind>(code) : ErrorKind::kSystem,
                fmt::format("{}: training ended with {}", runs[k],
                            code > 128 ? fmt::format("signal {}", code - 128)
                                       : fmt::format("exit code {}", code)));
  }
  return outcomes;
}

}  // namespace egc::cli
