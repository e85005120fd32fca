#include "egc/app/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "egc/app/begin_runs.h"
#include "egc/app/child_jobs.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"

namespace egc::app {
namespace {

using Json = nlohmann::ordered_json;

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

// Ends early where a run is interrupted.
std::vector<TrainOutcome> train_in_turn(const std::vector<std::string>& runs, const TrainRequest& o,
                                        TrainingData& data, TrainProgress& progress,
                                        const volatile std::sig_atomic_t* stop,
                                        distributed::ProcessGroup* group) {
  const LoadDataset load = [&](const std::string& name) {
    return runs.size() == 1 ? data.take(name) : data.of(name);
  };
  std::vector<TrainOutcome> out;
  for (const std::string& run : runs) {
    const auto observer = progress.observe();
    out.push_back(train_run(run, load, {o.checkpoint_every, o.until, stop}, *observer, group));
    if (out.back().interrupted) break;
    progress.on_outcome(out.back());
  }
  return out;
}

// Each run is a process of its own that resumes its directory.
std::vector<TrainOutcome> train_at_once(const std::vector<std::string>& runs, const TrainRequest& o,
                                        const Session& session, TrainProgress& progress,
                                        const volatile std::sig_atomic_t* stop) {
  std::vector<TrainOutcome> outcomes(runs.size());
  ChildJobs jobs;
  jobs.program = session.program;
  jobs.at_once = std::min<int64_t>(o.jobs, std::ssize(runs));
  jobs.stop = stop;
  jobs.on_line = [&](size_t k, std::string_view text) {
    const Json line = parse_json<Json>(std::string(text), "a run's output", ErrorKind::kSystem);
    if (line.contains("summary")) return;
    progress.on_line(text);
    if (line.contains("best_epoch")) outcomes[k] = outcome_of(line);
  };
  const int64_t threads = threads_of_child(o.jobs, std::ssize(runs));
  for (const std::string& run : runs) {
    jobs.commands.push_back(
        {"train", "--resume", run, "--checkpoint-every", std::to_string(o.checkpoint_every)});
    if (o.until > 0)
      jobs.commands.back().insert(jobs.commands.back().end(), {"--until", std::to_string(o.until)});
    for (const std::string& a : child_arguments(session, threads))
      jobs.commands.back().push_back(a);
  }
  const std::vector<int> codes = run_jobs(jobs);
  for (size_t k = 0; k < runs.size(); ++k) {
    outcomes[k].interrupted = codes[k] == kInterrupted;
    if (codes[k] != 0 && !outcomes[k].interrupted)
      throw error_of_child(runs[k] + ": training", codes[k]);
  }
  return outcomes;
}

// The main thread may wait for the lost rank for ever: the process ends here. Checkpoints are whole
// at any moment.
void end_process(const std::string& sentence) {
  fmt::print(stderr, "egc: {}\n", sentence);
  _exit(static_cast<int>(ErrorKind::kSystem));
}

// Tells a function of every epoch.
class EpochObserver : public train::RunObserver {
 public:
  explicit EpochObserver(const OnEpoch& on_epoch) : on_epoch_(on_epoch) {}
  bool on_step(const train::Trainer::Step&) override { return !stopped_; }
  void on_epoch(const train::EpochRecord& record, bool) override {
    stopped_ = on_epoch_ && !on_epoch_(record);
  }

 private:
  const OnEpoch& on_epoch_;
  bool stopped_ = false;
};

}  // namespace

std::string to_json(const TrainOutcome& r) {
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
  return out.dump();
}

TrainReport train(const TrainRequest& request, const Session& session, TrainProgress& progress,
                  const volatile std::sig_atomic_t* stop) {
  const TrainRequest& o = request;
  check(o.resume.empty() != o.options.dataset.empty(),
        "egc train takes either a dataset or --resume with a run");
  TrainReport out;
  out.directory = !o.resume.empty() ? o.resume
                  : o.out.empty()   ? free_directory(o.options, o.overwrite)
                                    : o.out;
  const distributed::GroupAddress address = group_address();
  check(address.size == 1 || o.seeds == 1, "distributed training takes one seed, got --seeds {}",
        o.seeds);
  TrainingData data(session);
  std::mutex changing;                 // what follows
  std::unique_ptr<Replaced> replaced;  // until the new runs have results
  std::unique_ptr<distributed::ProcessGroup> group;
  if (address.size > 1)  // at once: reading data may take longer than others wait for each other
    group = std::make_unique<distributed::ProcessGroup>(address, [&](const std::string& sentence) {
      const std::scoped_lock lock(changing);
      if (replaced) replaced->put_back();
      end_process(sentence);
    });
  if (address.rank > 0) {  // rank 0 has the files and tells the rest
    out.runs = {out.directory};
    out.outcomes = train_in_turn(out.runs, o, data, progress, stop, group.get());
    return out;
  }
  if (o.resume.empty()) {
    data.of(o.options.dataset);  // reading takes long, and a lost rank must not wait for it
    const std::scoped_lock lock(changing);
    out.runs = begin_runs(o, session, data, out.directory, replaced);
  } else {
    out.runs = runs_in(out.directory);
  }
  check(address.size == 1 || out.runs.size() == 1,
        "distributed training resumes one run at a time, but {} contains {}", out.directory,
        out.runs.size());
  progress.on_runs(out.directory, out.runs);
  if (o.jobs > 1 && out.runs.size() > 1) data.clear();  // the processes read it themselves
  out.outcomes = o.jobs == 1 || out.runs.size() == 1
                     ? train_in_turn(out.runs, o, data, progress, stop, group.get())
                     : train_at_once(out.runs, o, session, progress, stop);
  const bool complete = std::none_of(out.outcomes.begin(), out.outcomes.end(),
                                     [](const auto& r) { return r.interrupted || r.paused; });
  if (complete && out.runs.size() > 1) write_seeds_report(out.directory, out.runs, out.outcomes);
  return out;
}

TrainReport train(const TrainRequest& request, const Session& session, const OnEpoch& on_epoch) {
  check(request.jobs == 1, "train: an epoch callback needs a single job, got {} jobs",
        request.jobs);
  struct Progress : TrainProgress {
    explicit Progress(const OnEpoch& f) : on_epoch(f) {}
    std::unique_ptr<train::RunObserver> observe() override {
      return std::make_unique<EpochObserver>(on_epoch);
    }
    const OnEpoch& on_epoch;
  };
  Progress progress(on_epoch);
  return train(request, session, progress);
}

}  // namespace egc::app
