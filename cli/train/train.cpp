// egc train: one run, or several with different seeds, and what came of them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/status_line.h"
#include "cli/stop_signal.h"
#include "cli/train/display.h"
#include "egc/app/search_trials.h"
#include "egc/app/train.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/core/log.h"
#include "egc/core/statistics.h"
#include "egc/core/text_file.h"
#include "egc/models/model_config.h"
#include "egc/report/spell.h"

namespace egc::cli {
namespace {

using app::TrainOutcome;
using Json = nlohmann::ordered_json;

// Epochs and outcomes, for people or programs.
class Display : public app::TrainProgress {
 public:
  explicit Display(const CommonOptions& common) : common_(common) {
    output_ = app::group_address().rank > 0 ? TrainOutput::kNothing  // rank 0 tells
              : common.json                 ? TrainOutput::kJson
              : common.quiet                ? TrainOutput::kNothing
              : status_line::is_possible()  ? TrainOutput::kTerminal
                                            : TrainOutput::kLines;
  }

  void on_runs(const std::string& /*directory*/, const std::vector<std::string>& runs) override {
    runs_ = runs;
  }
  std::unique_ptr<train::RunObserver> observe() override {
    const std::string run = next_ < runs_.size() ? runs_[next_] : "";
    ++next_;
    return std::make_unique<TrainDisplay>(output_, run);
  }
  void on_outcome(const TrainOutcome& outcome) override {
    if (output_ == TrainOutput::kJson) fmt::print("{}\n", app::to_json(outcome));
    std::fflush(stdout);
  }
  void on_line(std::string_view text) override {
    if (output_ == TrainOutput::kJson) {
      fmt::print("{}\n", text);
      std::fflush(stdout);
    } else if (const Json line = Json::parse(text); line.contains("epoch") && !common_.quiet) {
      log_info("seed {} {}", line.at("seed").get<uint64_t>(), app::spell_epoch(line));
    }
  }

 private:
  const CommonOptions& common_;
  TrainOutput output_;
  std::vector<std::string> runs_;  // they are observed in this order
  size_t next_ = 0;
};

// The report and the commands that use the model.
void tell_next_steps(const std::string& dir, const std::string& dataset) {
  std::error_code ignored;
  const auto report = std::filesystem::path(dir) / "report.html";
  if (std::filesystem::exists(report, ignored)) fmt::print("Report:   {}\n", report.string());
  fmt::print("Predict:  egc predict {} INPUT\n", dir);
  fmt::print("Evaluate: egc eval {} {}\n", dir, dataset.empty() ? "DATASET" : dataset);
}

void summarise(const std::vector<TrainOutcome>& outcomes, const std::string& dir,
               const std::string& dataset, const CommonOptions& common) {
  std::vector<double> tests;
  for (const TrainOutcome& r : outcomes) tests.push_back(r.test);
  const auto [mean, deviation, count] = spread_of(tests);
  const TrainOutcome& first = outcomes.front();
  if (common.json) {
    fmt::print("{}\n", Json{{"summary", true},
                            {"metric", first.metric},
                            {"mean", mean},
                            {"std", deviation},
                            {"seeds", count},
                            {"run", dir}}
                           .dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  fmt::print("{} on {}, {} parameters\n", first.model, first.dataset, first.parameters);
  fmt::print("  seed  epochs  best    valid {:<9} test {:<9}  time\n", first.metric, first.metric);
  for (const TrainOutcome& r : outcomes)
    fmt::print("  {:>4}  {:>6}  {:>4}  {:>15}  {:>13}  {}\n", r.seed, r.epochs, r.best_epoch,
               report::spell_score(r.metric, r.valid), report::spell_score(r.metric, r.test),
               report::spell_time(r.seconds));
  if (count > 1)
    fmt::print("  test {} {} (mean and standard deviation over {} seeds)\n", first.metric,
               report::spell_score(first.metric, mean, deviation), count);
  tell_next_steps(dir, dataset);
}

// A configuration may name its dataset.
std::string dataset_of(const std::string& config) {
  const Json json =
      parse_json<Json>(read_text_file(config, ErrorKind::kUsage), config, ErrorKind::kUsage);
  const auto it = json.is_object() ? json.find("dataset") : json.end();
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

void train(const app::TrainRequest& o, const CommonOptions& common) {
  const auto* stop = watch_stop_signals();
  Display display(common);
  const app::TrainReport report = app::train(o, common, display, stop);
  const bool is_first = app::group_address().rank == 0;
  for (const TrainOutcome& r : report.outcomes) {
    if (!r.interrupted) continue;
    if (is_first)
      fmt::print(stderr, "egc: interrupted; continue with egc train --resume {}\n",
                 report.directory);
    throw CLI::RuntimeError(kInterrupted);
  }
  if (!is_first) return;
  for (const TrainOutcome& r : report.outcomes) {
    if (!r.paused) continue;
    if (!common.json)
      fmt::print("paused after epoch {}, best valid {} {}; continue with egc train --resume {}\n",
                 r.epochs, r.metric, report::spell_score(r.metric, r.valid), report.directory);
    return;
  }
  summarise(report.outcomes, report.directory, o.options.dataset, common);
}

// --norm, --norm layer and --no-norm.
void add_switch_or_text(CLI::App& c, const FieldFacts& field,
                        std::map<std::string, std::string>& settings) {
  const auto value = std::make_shared<std::string>();
  CLI::Option* with = c.add_flag(field.flag + "{true}", *value, field.help)
                          ->expected(0, 1)
                          ->type_name("[TEXT]")
                          ->each([&settings, value, key = field.key](const std::string& text) {
                            settings[key] = text;
                          });
  c.add_flag_callback(
       "--no-" + field.flag.substr(2), [&settings, key = field.key] { settings[key] = "false"; },
       fmt::format("The same as {} none", field.flag))
      ->excludes(with);
}

// In "--norm zinc" the flag took the name of the dataset.
void give_back_dataset(app::TrainOptions& o) {
  const auto norm = o.settings.find("norm");
  if (norm == o.settings.end() || !o.dataset.empty() || !o.config.empty()) return;
  std::vector<std::string_view> known = models::norms().names();
  known.insert(known.end(), {"true", "false"});
  if (std::find(known.begin(), known.end(), norm->second) != known.end()) return;
  o.dataset = norm->second;
  norm->second = "true";
}

// A flag for every field of the configuration.
void add_settings(CLI::App& c, std::map<std::string, std::string>& settings) {
  for (const FieldFacts& field : app::settable_fields()) {
    if (field.kind == FieldKind::kSwitch) {
      c.add_flag_function(
           field.flag + ",!--no-" + field.flag.substr(2),
           [&settings, key = field.key](int64_t count) {
             settings[key] = count > 0 ? "true" : "false";
           },
           field.help)
          ->check(CLI::Validator(
              [](const std::string& text) {
                const bool is_known = text.empty() || text == "true" || text == "false" ||
                                      std::all_of(text.begin(), text.end(), [](char c) {
                                        return c == '-' || (c >= '0' && c <= '9');
                                      });
                return is_known ? std::string() : text + " not in {true,false}";
              },
              ""));
      continue;
    }
    if (field.kind == FieldKind::kSwitchOrText) {
      add_switch_or_text(c, field, settings);
      continue;
    }
    const char* type = field.kind == FieldKind::kInteger  ? "INT"
                       : field.kind == FieldKind::kNumber ? "FLOAT"
                       : field.kind == FieldKind::kList   ? "TEXT,..."
                                                          : "TEXT";
    const std::string of =
        field.layers.empty() ? "" : fmt::format(" ({})", fmt::join(field.layers, ", "));
    c.add_option_function<std::string>(
         field.flag,
         [&settings, key = field.key](const std::string& text) { settings[key] = text; },
         field.help + of)
        ->type_name(type);
  }
}

}  // namespace

void add_train(CLI::App& app, const CommonOptions& common) {
  auto o = std::make_shared<app::TrainRequest>();
  app::TrainOptions& f = o->options;
  CLI::App* c = app.add_subcommand("train", "Train a network on a dataset");
  c->add_option("dataset", f.dataset, "Known or generated dataset, or a dataset directory");
  c->add_option("--model", f.model,
                "Layer of the network: egc-s, egc-m, egc, gcn, gin, sage, gat, gatv2, mpnn-sum, "
                "mpnn-max, pna, mlp, ga-mlp, rgcn or regc");
  c->add_option("--config", f.config, "JSON file with all settings; flags override it");
  c->add_option("--out", o->out, "Directory of the run (default: runs/<dataset>-<model>)");
  c->add_flag("--overwrite", o->overwrite, "Replace the run in --out");
  c->add_option("--resume", o->resume, "Directory of a stopped run to continue");
  c->add_option("--seeds", o->seeds, "Number of training runs, with consecutive seeds from --seed")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  c->add_option("--jobs", o->jobs, "Seeds to train in parallel; they share the threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  c->add_option("--parameters", f.parameters,
                "Choose --hidden for about this many parameters, for instance 100k")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, int64_t>{{"k", 1000}, {"M", 1000000}}));
  add_settings(*c, f.settings);
  c->add_option("--until", o->until, "Pause after this epoch; --resume continues")
      ->check(CLI::Range(1, 1 << 30));
  c->add_option("--checkpoint-every", o->checkpoint_every, "Epochs between checkpoints")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  c->footer("Example:\n  egc train molecules --model egc-m --epochs 20 --out runs/first");
  c->callback([o, c, &common] {
    if (!o->resume.empty())
      for (const CLI::Option* option : c->get_options())
        check(option->count() == 0 || option->get_name() == "--resume" ||
                  option->get_name() == "--jobs" || option->get_name() == "--until" ||
                  option->get_name() == "--checkpoint-every",
              "--resume continues a run with its own settings; it cannot be combined with {}",
              option->get_name());
    if (o->resume.empty()) give_back_dataset(o->options);
    if (o->options.dataset.empty() && !o->options.config.empty())
      o->options.dataset = dataset_of(o->options.config);
    train(*o, common);
  });
}

}  // namespace egc::cli
