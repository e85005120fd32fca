#include "egc/app/reproduce_cells.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "egc/app/child_jobs.h"
#include "egc/app/find_dataset.h"
#include "egc/app/search_trials.h"
#include "egc/app/shared_files.h"
#include "egc/app/version.h"
#include "egc/core/atomic_file.h"
#include "egc/core/claim_file.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/kernels/target.h"

namespace egc::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using reproduce::Cell;
using reproduce::CellDirectory;
using reproduce::Measure;
using reproduce::Table;

// Rounds of the benchmark that a record is of; 0: there is none.
int64_t reps_of(const fs::path& record) {
  if (!fs::exists(record)) return 0;
  const Json result = reproduce::read_record(record).at("result");
  // Of fusion each method has its line; all have the same.
  const Json& line = result.contains("reps") || result.empty() ? result : result.front();
  const Json reps = line.is_object() ? line.value("reps", Json()) : Json();
  return reps.is_number_integer() ? reps.get<int64_t>() : 0;
}

// One process, and the record that it will leave.
struct Job {
  std::string what;  // for people
  std::vector<std::string> command;
  fs::path record;
  fs::path config;  // what it was run with, complete
  Json result = Json::object();
};

class Jobs {
 public:
  Jobs(const Table& table, const ReproduceOptions& options, const Session& session)
      : table_(table), options_(options), session_(session) {
    at_once_ = table.measure == Measure::kTraining ? options.jobs : 1;  // timings need the machine
  }

  void add(const Cell& cell) {
    try {
      add_missing(cell);
    } catch (const Error& e) {
      keep(e);
    }
  }

  // False where it was stopped. Throws the first failure of a cell, after all others.
  bool run(const volatile std::sig_atomic_t* stop) {
    ChildJobs children;
    children.program = session_.program;
    children.at_once = at_once_;
    children.stop = stop;
    threads_ = threads_of_child(at_once_, std::ssize(jobs_));
    for (const Job& job : jobs_) {
      children.commands.push_back(job.command);
      for (const std::string& a : child_arguments(session_, threads_))
        children.commands.back().push_back(a);
    }
    children.on_line = [&](size_t k, std::string_view line) { take_line(jobs_[k], line); };
    children.on_end = [&](size_t k, int code) {
      if (code == 0) return write_record(jobs_[k], children.commands[k]);
      if ((stop == nullptr || *stop == 0)) keep(error_of_child(jobs_[k].what, code));
    };
    run_jobs(children);
    if ((stop != nullptr && *stop != 0)) return false;
    if (failure_) throw Error(*failure_);
    return true;
  }

 private:
  // The first is what the command ends with; of the others it is said here which they are.
  void keep(const Error& failure) {
    if (failure_)
      log_warning("{}", failure.what());
    else
      failure_ = failure;
  }

  void add_missing(const Cell& cell) {
    const CellDirectory dir(options_.out, table_, cell, options_.change);
    if (!cell.config.empty()) dir.write_config(cell_config(table_, cell, options_.change));
    if (table_.measure == Measure::kTraining) {
      for (int64_t k = 0; k < options_.seeds.value_or(1); ++k)
        add_training(cell, dir, session_.seed + static_cast<uint64_t>(k));
      return;
    }
    if (reps_of(dir.measured()) >= options_.reps || !measured_.insert(dir.path()).second) return;
    make_directories(dir.path());
    Job job{cell.name(), {}, dir.measured(), cell.config.empty() ? "" : dir.config()};
    if (table_.measure == Measure::kEpoch)
      job.command = {"bench",     "epoch",
                     "--dataset", options_.change.dataset_of(cell),
                     "--config",  dir.config().string()};
    else
      job.command = {"bench", "fusion", "--topology", options_.change.dataset_of(cell)};
    job.command.insert(job.command.end(), {"--reps", std::to_string(options_.reps)});
    jobs_.push_back(std::move(job));
  }

  void add_training(const Cell& cell, const CellDirectory& dir, uint64_t seed) {
    if (fs::exists(dir.record(seed))) return;
    const fs::path run = dir.run(seed);
    Job job{
        fmt::format("{} seed {}", cell.name(), seed), {}, dir.record(seed), run / "config.json"};
    if (fs::exists(job.config))
      job.command = {"train", "--resume", run.string()};
    else
      job.command = {"train",    options_.change.dataset_of(cell),
                     "--config", dir.config().string(),
                     "--seed",   std::to_string(seed),
                     "--out",    run.string()};
    jobs_.push_back(std::move(job));
  }

  void take_line(Job& job, std::string_view text) {
    const Json line = parse_json<Json>(text, job.what, ErrorKind::kSystem);
    switch (table_.measure) {
      case Measure::kTraining:
        if (line.contains("test")) job.result = line;
        if (line.contains("epoch")) log_info("{}: {}", job.what, spell_epoch(line));
        break;
      case Measure::kEpoch:
        job.result = line;
        break;
      case Measure::kFusion:
        job.result[line.at("method").get<std::string>()] = line;
        break;
    }
  }

  void write_record(const Job& job, const std::vector<std::string>& command) const {
    Json record = {
        {"cell", job.what},
        {"command", command},
        {"version", version_with_revision()},
        {"instruction_set", kernels::current_target()},
        {"threads", threads_},
        {"config",
         job.config.empty() ? Json() : read_json_file<Json>(job.config.string(), ErrorKind::kData)},
        {"result", job.result}};
    write_whole_file(job.record, record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    log_info("{}: done", job.what);
  }

  const Table& table_;
  const ReproduceOptions& options_;
  const Session& session_;
  int64_t at_once_ = 1;
  int64_t threads_ = 1;  // of each
  std::optional<Error> failure_;
  std::vector<Job> jobs_;
  std::set<fs::path> measured_;  // benchmarks that fill several cells
};

}  // namespace

Json cell_config(const Table& table, const Cell& cell, const reproduce::Override& change) {
  const auto file = shared_file("configs/" + cell.config + ".json");
  check(file.has_value(), "{}: configuration {} not found", cell.name(), cell.config);
  return reproduce::config_of(table, cell, read_json_file<Json>(file->string(), ErrorKind::kUsage),
                              change);
}

std::map<std::string, std::string> missing_datasets(const Table& table,
                                                    const std::vector<const Cell*>& cells,
                                                    const ReproduceOptions& options,
                                                    const Session& session) {
  std::map<std::string, std::string> out;
  if (table.measure == Measure::kFusion) return out;  // topologies are made
  for (const Cell* cell : cells) {
    try {
      dataset_directory(options.change.dataset_of(*cell), session);
    } catch (const Error& e) {
      if (options.change.stand_ins.contains(cell->dataset)) throw;  // somebody named it
      out[cell->dataset] = e.what();
    }
  }
  return out;
}

bool run_missing_cells(const Table& table, const std::vector<const Cell*>& cells,
                       const std::map<std::string, std::string>& missing,
                       const ReproduceOptions& options, const Session& session,
                       const volatile std::sig_atomic_t* stop) {
  Jobs jobs(table, options, session);
  for (const Cell* cell : cells)
    if (!missing.contains(cell->dataset)) jobs.add(*cell);
  return jobs.run(stop);
}

}  // namespace egc::app
