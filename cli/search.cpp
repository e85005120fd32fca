// egc search: settings, or aggregators, that validation likes best.
#include "cli/search.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "cli/dataset_argument.h"
#include "cli/spell.h"
#include "cli/stop_signal.h"
#include "cli/train_runs.h"
#include "egc/core/claim_file.h"
#include "egc/core/error.h"
#include "egc/core/json_parse.h"
#include "egc/report/html.h"

namespace egc::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string spell(const Trial& t, double value) {
  return std::isnan(value) ? "-" : spell_score(t.metric, value);
}

}  // namespace

void add_search_options(CLI::App& c, SearchOptions& o) {
  c.add_option("dataset", o.trials.dataset, "A known or generated dataset, or a directory")
      ->required();
  c.add_option("--config", o.config, "What is not searched (default: the paper's)");
  c.add_option("--model", o.model, "Of the paper's configuration")->capture_default_str();
  c.add_option("--epochs", o.epochs, "At most, instead of the configuration's");
  c.add_option("--first-epochs", o.first_epochs, "After which halving first judges")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  c.add_option("--factor", o.factor, "Of halving: one in so many goes on, for so many times longer")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  c.add_option("--jobs", o.trials.jobs, "Trainings at a time; they share the threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  c.add_option("--out", o.trials.out, "Where everything is kept; the same command goes on there")
      ->required();
}

Json base_config(const SearchOptions& o) {
  const std::string file =
      o.config.empty() ? published_config(o.trials.dataset, o.model) : o.config;
  check(!file.empty(), "the paper has no configuration of {} for {}; --config gives one", o.model,
        o.trials.dataset);
  Json config = read_json_file<Json>(file, ErrorKind::kUsage);
  const auto is_object = [&](const char* key) {
    return config.find(key) != config.end() && config[key].is_object();
  };
  check(config.is_object() && is_object("model"), "{}: is no configuration: \"model\" is missing",
        file);
  check(is_object("train") || !config.contains("train"), "{}: \"train\" must be an object", file);
  config.erase("about");  // of a run's own
  const fs::path path(o.trials.dataset);
  std::error_code ignored;
  config["dataset"] = fs::exists(path, ignored) ? fs::canonical(path).string() : o.trials.dataset;
  if (o.epochs) config["train"]["epochs"] = *o.epochs;
  if (!config["train"].contains("epochs")) config["train"]["epochs"] = 200;
  check(config["train"]["epochs"].is_number_integer() && config["train"]["epochs"] >= 1,
        "{}: \"epochs\" must be a whole number from 1 on", file);
  return config;
}

int64_t most_epochs(const Json& config) { return config.at("train").at("epochs").get<int64_t>(); }

void claim_directory(const SearchOptions& o, Json plan, const CommonOptions& common) {
  dataset_directory(o.trials.dataset, common);  // a misspelt one leaves nothing behind
  plan.update({{"method", o.method},
               {"seed", common.seed},
               {"first_epochs", o.first_epochs},
               {"factor", o.factor}});
  claim_file(fs::path(o.trials.out) / "search.json", plan.dump(2) + "\n",
             "another search was begun there, see search.json; choose another --out");
}

void run_search(const std::function<void()>& search) {
  try {
    search();
  } catch (const SearchStopped&) {
    end_interrupted();
  }
}

void check_found(const Trial& best) {
  if (std::isnan(best.valid))
    fail(ErrorKind::kVerification,
         "no trial has a score: each was refused, or its loss became no number");
}

void print_trials(const std::vector<Trial>& trials, const CommonOptions& common) {
  if (!common.json) fmt::print("{:<40} {:>7} {:>12} {:>12}\n", "", "epochs", "valid", "test");
  for (const Trial& t : trials) {
    if (common.json)
      fmt::print("{}\n", Json{{"trial", t.name},
                              {"seed", t.seed},
                              {"epochs", t.epochs},
                              {"metric", t.metric},
                              {"valid", t.valid},
                              {"test", t.test}}
                             .dump());
    else
      fmt::print("{:<40} {:>7} {:>12} {:>12}\n", t.name, t.epochs, spell(t, t.valid),
                 spell(t, t.test));
  }
}

std::string trials_as_html(const std::vector<Trial>& trials) {
  std::string out =
      "<div class=\"scroll\"><table><tr><th></th><th>epochs</th><th>valid</th><th>test</th></tr>\n";
  for (const Trial& t : trials)
    out += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       report::escape_html(t.name), t.epochs, spell(t, t.valid), spell(t, t.test));
  return out + "</table></div>\n";
}

void add_search(CLI::App& app, const CommonOptions& common) {
  CLI::App* search =
      app.add_subcommand("search", "Searches settings or aggregators, judged by validation");
  search->require_subcommand(1);
  search->fallthrough();
  search->footer("Example:\n  egc search aggregators zinc --choose 3 --out found");
  add_search_settings(*search, common);
  add_search_aggregators(*search, common);
}

}  // namespace egc::cli
