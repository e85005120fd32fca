// egc train: one run, or several with different seeds, and what came of them.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/common.h"
#include "cli/dataset_argument.h"
#include "cli/spell.h"
#include "cli/stop_signal.h"
#include "cli/torch_module.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/parallel.h"
#include "egc/data/child_process.h"
#include "egc/data/dataset_table.h"
#include "egc/data/write_dataset.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
  TrainFlags flags;
  std::string out;
  std::string resume;
  int64_t seeds = 1;
  int64_t jobs = 1;
  int64_t checkpoint_every = 1;
};

// runs/<dataset>-<model>, or the next free number.
std::string free_directory(const TrainFlags& flags) {
  fs::path path(flags.dataset);
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  const std::string model =
      flags.model.empty() ? fs::path(flags.config).stem().string() : flags.model;
  const std::string base = fmt::format("runs/{}-{}", name.empty() ? "dataset" : name, model);
  std::string out = base;
  for (int k = 2; fs::exists(out); ++k) out = fmt::format("{}-{}", base, k);
  return out;
}

// The paper's configuration of a known dataset, where there is one: installed beside the program,
// or in the source tree that it was built in.
std::string published_config(const std::string& dataset, const std::string& model) {
  const data::KnownDataset* known = data::find_known(dataset);
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  if (known == nullptr) return "";
  for (const char* place : {"../share/egc/configs", "../../../configs"}) {
    const fs::path file = program / place / known->name / (model + ".json");
    if (fs::exists(file, ignored)) return file.lexically_normal().string();
  }
  return "";
}

// Of one run or of several: the directories with a config.json.
std::vector<std::string> runs_in(const std::string& dir) {
  std::vector<std::string> out;
  if (fs::exists(fs::path(dir) / "config.json")) return {dir};
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(dir, ignored))
    if (fs::exists(entry.path() / "config.json")) out.push_back(entry.path().string());
  check(!out.empty(), "{}: no run: there is no config.json", dir);
  std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;  // seed-2 before seed-10
  });
  return out;
}

// Generated sets are the same for every seed of training.
data::Dataset load_for_training(const std::string& name, const CommonOptions& common) {
  CommonOptions fixed = common;
  fixed.seed = 0;
  return load_dataset(name, fixed);
}

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

std::vector<TrainOutcome> train_in_turn(const std::vector<std::string>& runs, const Options& o,
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

// Each run is a process of its own that resumes its directory.
std::vector<TrainOutcome> train_at_once(const std::vector<std::string>& runs, const Options& o,
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

void summarise(const std::vector<TrainOutcome>& outcomes, const std::string& dir,
               const CommonOptions& common) {
  double mean = 0;
  for (const TrainOutcome& r : outcomes) mean += r.test / static_cast<double>(outcomes.size());
  double square = 0;
  for (const TrainOutcome& r : outcomes) square += (r.test - mean) * (r.test - mean);
  const double deviation =
      outcomes.size() < 2 ? 0 : std::sqrt(square / static_cast<double>(outcomes.size() - 1));
  const TrainOutcome& first = outcomes.front();
  if (common.json) {
    fmt::print("{}\n", Json{{"summary", true},
                            {"metric", first.metric},
                            {"mean", mean},
                            {"std", deviation},
                            {"seeds", outcomes.size()},
                            {"run", dir}}
                           .dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  fmt::print("{} on {}, {} parameters\n", first.model, first.dataset, first.parameters);
  fmt::print("  seed  epochs  best    valid {:<9} test {:<9}  time\n", first.metric, first.metric);
  for (const TrainOutcome& r : outcomes)
    fmt::print("  {:>4}  {:>6}  {:>4}  {:>15}  {:>13}  {}\n", r.seed, r.epochs, r.best_epoch,
               spell_score(r.metric, r.valid), spell_score(r.metric, r.test),
               spell_time(r.seconds));
  if (outcomes.size() > 1)
    fmt::print("  test {} {} (mean and deviation over {} seeds)\n", first.metric,
               spell_score(first.metric, mean, deviation), outcomes.size());
  fmt::print("{}\n", dir);
}

// A configuration may name its dataset.
std::string dataset_of(const std::string& config) {
  std::ifstream file(config);
  std::ostringstream text;
  text << file.rdbuf();
  check(file.good(), "{}: the file cannot be opened", config);
  const Json json = parse_json<Json>(text.str(), config, ErrorKind::kUsage);
  const auto it = json.is_object() ? json.find("dataset") : json.end();
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

// The directories of new runs, complete but for the training.
std::vector<std::string> begin_runs(const Options& o, const CommonOptions& common,
                                    const std::string& dir) {
  TrainFlags flags = o.flags;
  const data::Dataset dataset = load_for_training(flags.dataset, common);
  if (flags.config.empty()) {
    flags.config = published_config(flags.dataset, flags.model);
    if (!flags.config.empty()) log_info("the paper's configuration: {}", flags.config);
  }
  if (const auto path = dataset_directory(flags.dataset, common); path && fs::exists(flags.dataset))
    flags.dataset = fs::absolute(*path).lexically_normal().string();
  if (o.seeds == 1) {
    torch_module().create_runs(dataset, flags, {{dir, common.seed}});
    return {dir};
  }
  // All of them or none: a set with some missing would look complete.
  std::vector<std::string> runs;
  data::create_directory_whole(dir, [&](const fs::path& to) {
    std::vector<RunToCreate> create;
    for (int64_t k = 0; k < o.seeds; ++k) {
      const uint64_t seed = common.seed + static_cast<uint64_t>(k);
      const std::string name = fmt::format("seed-{}", seed);
      create.push_back({(to / name).string(), seed});
      runs.push_back((fs::path(dir) / name).string());
    }
    torch_module().create_runs(dataset, flags, create);
  });
  return runs;
}

void train(const Options& o, const CommonOptions& common) {
  check(o.resume.empty() != o.flags.dataset.empty(),
        "egc train takes a dataset, or --resume with a run, not both and not neither");
  const auto* stop = watch_stop_signals();
  const std::string dir = !o.resume.empty() ? o.resume
                          : o.out.empty()   ? free_directory(o.flags)
                                            : o.out;
  const std::vector<std::string> runs =
      o.resume.empty() ? begin_runs(o, common, dir) : runs_in(dir);
  const auto outcomes = o.jobs == 1 || runs.size() == 1 ? train_in_turn(runs, o, common, stop)
                                                        : train_at_once(runs, o, common, stop);
  for (const TrainOutcome& r : outcomes) {
    if (!r.interrupted) continue;
    fmt::print(stderr, "egc: interrupted; egc train --resume {} goes on\n", dir);
    throw CLI::RuntimeError(kInterrupted);
  }
  summarise(outcomes, dir, common);
}

}  // namespace

void add_train(CLI::App& app, const CommonOptions& common) {
  auto o = std::make_shared<Options>();
  TrainFlags& f = o->flags;
  CLI::App* c = app.add_subcommand("train", "Trains a network on a dataset");
  c->add_option("dataset", f.dataset, "A known or generated dataset, or a directory");
  c->add_option(
      "--model", f.model,
      "egc-s egc-m egc gcn gin sage gat gatv2 mpnn-sum mpnn-max pna mlp ga-mlp rgcn regc");
  c->add_option("--config", f.config, "A JSON file with everything; flags override it");
  c->add_option("--out", o->out, "Where the run is kept (default: runs/<dataset>-<model>)");
  c->add_option("--resume", o->resume, "Goes on with a run that was stopped");
  c->add_option("--seeds", o->seeds, "Trains that many times, with seeds from --seed on")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  c->add_option("--jobs", o->jobs, "Seeds at a time; they share the threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  c->add_option("--hidden", f.hidden, "Width of the layers");
  c->add_option("--layers", f.layers, "Number of layers");
  c->add_option("--heads", f.heads, "Heads");
  c->add_option("--bases", f.bases, "Bases");
  c->add_option("--aggregators", f.aggregators, "For instance add,std,max")->delimiter(',');
  c->add_option("--self-loops", f.self_loops, "all, symnorm or none");
  c->add_option("--activation", f.activation,
                "Of the weightings: identity, softmax, sigmoid, hardtanh");
  c->add_option("--dropout", f.dropout, "Share of values that training drops");
  c->add_option("--lr", f.lr, "Learning rate");
  c->add_option("--wd", f.wd, "Weight decay: L2, added to the gradient");
  c->add_option("--batch", f.batch, "Graphs in a batch");
  c->add_option("--epochs", f.epochs, "At most");
  c->add_option("--patience", f.patience,
                "Epochs without a better validation before it stops; 0: never");
  c->add_option("--lr-factor", f.lr_factor, "What the learning rate is multiplied by on a plateau");
  c->add_option("--lr-patience", f.lr_patience, "Epochs of a plateau");
  c->add_option("--min-lr", f.min_lr, "Least learning rate");
  c->add_option("--clip", f.clip, "Most norm of the gradients; 0: no limit");
  c->add_option("--watch", f.watch, "What validation is judged by: loss, or the dataset's metric");
  c->add_option("--split", f.split, "Which split of the dataset (default: its first)");
  c->add_option("--checkpoint-every", o->checkpoint_every, "Epochs")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  c->footer("Example:\n  egc train molecules --model egc-m --epochs 20 --out runs/first");
  c->callback([o, c, &common] {
    if (!o->resume.empty())
      for (const CLI::Option* option : c->get_options())
        check(option->count() == 0 || option->get_name() == "--resume" ||
                  option->get_name() == "--jobs" || option->get_name() == "--checkpoint-every",
              "--resume goes on with a run as it was begun; {} cannot change it",
              option->get_name());
    if (o->flags.dataset.empty() && !o->flags.config.empty())
      o->flags.dataset = dataset_of(o->flags.config);
    train(*o, common);
  });
}

}  // namespace egc::cli
