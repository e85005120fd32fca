#include "cli/reproduce_cells.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "cli/child_jobs.h"
#include "cli/dataset_argument.h"
#include "cli/shared_files.h"
#include "cli/stop_signal.h"
#include "cli/train_runs.h"
#include "egc/core/atomic_file.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"
#include "egc/core/text_file.h"
#include "egc/kernels/target.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using reproduce::Cell;
using reproduce::CellDirectory;
using reproduce::Measure;
using reproduce::Table;

std::string dataset_of(const Cell& cell, const ReproduceOptions& o) {
  const auto it = o.change.stand_ins.find(cell.dataset);
  return it == o.change.stand_ins.end() ? cell.dataset : it->second;
}

Json read_json(const fs::path& path) {
  return parse_json<Json>(read_text_file(path.string(), ErrorKind::kData), path.string(),
                          ErrorKind::kData);
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
  Jobs(const Table& table, const ReproduceOptions& options, const CommonOptions& common)
      : table_(table), options_(options), common_(common) {
    at_once_ = table.measure == Measure::kTraining ? options.jobs : 1;  // timings need the machine
  }

  void add(const Cell& cell) {
    const CellDirectory dir(options_.out, table_, cell, options_.change);
    if (!cell.config.empty()) dir.write_config(config_of(cell));
    if (table_.measure == Measure::kTraining) {
      for (int64_t k = 0; k < options_.seeds; ++k)
        add_training(cell, dir, common_.seed + static_cast<uint64_t>(k));
      return;
    }
    if (fs::exists(dir.measured()) || !measured_.insert(dir.path()).second) return;
    fs::create_directories(dir.path());
    Job job{cell.name(), {}, dir.measured(), cell.config.empty() ? "" : dir.config()};
    if (table_.measure == Measure::kEpoch)
      job.command = {"bench",     "epoch",
                     "--dataset", dataset_of(cell, options_),
                     "--config",  dir.config().string()};
    else
      job.command = {"bench", "fusion", "--topology", cell.dataset};
    job.command.insert(job.command.end(), {"--reps", std::to_string(options_.reps)});
    jobs_.push_back(std::move(job));
  }

  // False where it was stopped.
  bool run(const volatile std::sig_atomic_t* stop) {
    ChildJobs children;
    children.at_once = at_once_;
    children.stop = stop;
    const int64_t threads = std::max<int64_t>(1, num_threads() / at_once_);
    for (const Job& job : jobs_) {
      children.commands.push_back(job.command);
      for (const std::string& argument :
           {std::string("--json"), std::string("--quiet"), std::string("--data-dir"),
            common_.data_dir, std::string("--threads"), std::to_string(threads)})
        children.commands.back().push_back(argument);
    }
    children.on_line = [&](size_t k, std::string_view line) { take_line(jobs_[k], line); };
    std::optional<Error> failure;
    children.on_end = [&](size_t k, int code) {
      if (code == 0) return write_record(jobs_[k], children.commands[k]);
      if (code != kInterrupted && !failure) failure = error_of_child(jobs_[k].what, code);
    };
    const std::vector<int> codes = run_jobs(children);
    if (*stop != 0) return false;
    if (failure) throw Error(*failure);
    return true;
  }

 private:
  Json config_of(const Cell& cell) const {
    const auto file = shared_file("configs/" + cell.config + ".json");
    check(file.has_value(), "{}: there is no configuration {}", cell.name(), cell.config);
    return reproduce::config_of(cell, read_json(*file), options_.change);
  }

  void add_training(const Cell& cell, const CellDirectory& dir, uint64_t seed) {
    if (fs::exists(dir.record(seed))) return;
    const fs::path run = dir.run(seed);
    Job job{
        fmt::format("{} seed {}", cell.name(), seed), {}, dir.record(seed), run / "config.json"};
    if (fs::exists(job.config))
      job.command = {"train", "--resume", run.string()};
    else
      job.command = {"train",  dataset_of(cell, options_), "--config", dir.config().string(),
                     "--seed", std::to_string(seed),       "--out",    run.string()};
    jobs_.push_back(std::move(job));
  }

  void take_line(Job& job, std::string_view text) {
    const Json line = parse_json<Json>(text, job.what, ErrorKind::kSystem);
    switch (table_.measure) {
      case Measure::kTraining:
        if (line.contains("test")) job.result = line;
        if (line.contains("epoch") && !common_.quiet)
          log_info("{}: {}", job.what, spell_epoch(line));
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
        {"cell", job.what},         {"command", command},
        {"version", EGC_VERSION},   {"instruction_set", kernels::available_targets().front()},
        {"threads", num_threads()}, {"config", job.config.empty() ? Json() : read_json(job.config)},
        {"result", job.result}};
    write_whole_file(job.record, record.dump(2) + "\n");
    if (!common_.quiet) log_info("{}: done", job.what);
  }

  const Table& table_;
  const ReproduceOptions& options_;
  const CommonOptions& common_;
  int64_t at_once_ = 1;
  std::vector<Job> jobs_;
  std::set<fs::path> measured_;  // benchmarks that fill several cells
};

}  // namespace

std::map<std::string, std::string> missing_datasets(const Table& table,
                                                    const std::vector<const Cell*>& cells,
                                                    const ReproduceOptions& options,
                                                    const CommonOptions& common) {
  std::map<std::string, std::string> out;
  if (table.measure == Measure::kFusion) return out;  // topologies are generated
  for (const Cell* cell : cells) try {
      dataset_directory(dataset_of(*cell, options), common);
    } catch (const Error& e) {
      out[cell->dataset] = e.what();
    }
  return out;
}

bool run_missing_cells(const Table& table, const std::vector<const Cell*>& cells,
                       const std::map<std::string, std::string>& missing,
                       const ReproduceOptions& options, const CommonOptions& common,
                       const volatile std::sig_atomic_t* stop) {
  Jobs jobs(table, options, common);
  for (const Cell* cell : cells)
    if (!missing.contains(cell->dataset)) jobs.add(*cell);
  return jobs.run(stop);
}

}  // namespace egc::cli
